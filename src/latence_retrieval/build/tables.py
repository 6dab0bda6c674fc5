"""The tables of a snapshot, each as rows in key order, from what the build has gathered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

from latence_retrieval.build.graph import Graph, PairDots
from latence_retrieval.build.link import link_probability
from latence_retrieval.build.lists import SpilledLists
from latence_retrieval.build.scratch import Scratch
from latence_retrieval.build.spill import SpillSorter
from latence_retrieval.build.term_sentences import term_sentence_rows
from latence_retrieval.lexical.postings_writer import PostingsWriter
from latence_retrieval.ports.key_value import Key, KeyValueWriter, Table
from latence_retrieval.sidecar.codec import AliasForm, Candidate, encode_alias, named_key, pack_numbers
from latence_retrieval.sidecar.keys import ROWS_AT_ONCE

__all__ = ["Gathered", "put_table"]


class Gathered:
    """What the build has gathered, told table by table."""

    def __init__(
        self,
        scratch: Scratch,
        graph: Graph,
        postings: PostingsWriter,
        term_sentences: SpilledLists,
        name_keys: SpilledLists,
        *,
        directory: Path,
        max_memory_bytes: int,
    ) -> None:
        """Take the parts.

        Args:
            scratch: all records.
            graph: collected.
            postings: of all chunks.
            term_sentences: of all chunks.
            name_keys: of all entities of the catalogue.
            directory: for temporary files.
            max_memory_bytes: for sorting one table.
        """
        self._scratch = scratch
        self._graph = graph
        self._postings = postings
        self._term_sentences = term_sentences
        self._name_keys = name_keys
        self._directory = directory
        self._memory_bytes = max_memory_bytes

    def tables(self, pair_dots: PairDots | None) -> Iterator[tuple[Table, Iterable[tuple[Key, bytes]]]]:
        """Yield the tables in the order in which they are written, each with its rows in key order."""
        scratch = self._scratch
        yield Table.ALIAS, self._sorted(self._alias_rows())
        yield (
            Table.ALIAS_HEAD,
            self._sorted(
                (named_key(token), longest.to_bytes(4, "little"))
                for token, longest in scratch.rows("SELECT token, longest FROM head")
            ),
        )
        yield Table.ENTITY, scratch.rows("SELECT n, CAST(json AS BLOB) FROM entity ORDER BY n")
        yield Table.INCIDENCE, self._graph.incidence_rows(pair_dots)
        yield Table.CHUNK, scratch.rows("SELECT n, CAST(json AS BLOB) FROM chunk ORDER BY n")
        yield Table.CHUNK_LINKS, self._graph.links_rows()
        relations = scratch.rows("SELECT n, label, description FROM relation ORDER BY n")
        yield Table.RELATION, ((n, json.dumps([label, description]).encode()) for n, label, description in relations)
        yield Table.ENTITY_ID, self._sorted(self._id_rows("SELECT id, n FROM entity"))
        yield Table.CHUNK_ID, self._sorted(self._id_rows("SELECT id, n FROM chunk"))
        yield Table.TERM, self._postings.rows()
        yield Table.NAME_KEY, ((key, pack_numbers(numbers)) for key, numbers in self._name_keys)
        yield Table.HYPEREDGE, scratch.rows("SELECT n, CAST(json AS BLOB) FROM fact ORDER BY n")
        yield Table.TERM_SENTENCE, term_sentence_rows(self._term_sentences)

    def _sorted(self, rows: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        with SpillSorter(self._directory, max_memory_bytes=self._memory_bytes) as sorter:
            sorter.add_all(rows)
            yield from sorter

    def _alias_rows(self) -> Iterator[tuple[bytes, bytes]]:
        query = (
            "SELECT a.form, a.entity, a.prior, a.flags, o.all_of_it, o.as_name FROM alias a"
            " LEFT JOIN occurrence o ON o.form = a.form ORDER BY a.form, a.entity"
        )
        counts = self._graph.chunk_counts
        for form, rows in groupby(self._scratch.rows(query), key=lambda row: row[0]):
            members = list(rows)
            candidates = tuple(Candidate(row[1], row[2], row[3]) for row in members)
            # A form that the corpus never shows says nothing about how it is written: taken as a name.
            probability = 1.0 if members[0][4] is None else link_probability(members[0][4], members[0][5])
            frequency = sum(counts[candidate.entity] for candidate in candidates)
            yield named_key(form), encode_alias(AliasForm(probability, frequency, candidates))

    def _id_rows(self, query: str) -> Iterator[tuple[bytes, bytes]]:
        for identifier, number in self._scratch.rows(query):
            yield named_key(identifier), number.to_bytes(4, "little") + identifier.encode("utf-8", "surrogatepass")


def put_table(writer: KeyValueWriter, table: Table, rows: Iterable[tuple[Key, bytes]], digest: Any) -> int:
    """Write one table and add its content to the digest.

    Args:
        writer: where it goes.
        table: which it is.
        rows: in key order.
        digest: a hash object.

    Returns:
        How many rows.
    """
    digest.update(b"table %d\n" % table)
    return writer.put_many(table, chain.from_iterable(_digested(table, rows, digest)))


def _digested(table: Table, rows: Iterable[tuple[Key, bytes]], digest: Any) -> Iterator[list[tuple[Key, bytes]]]:
    """Pass rows through in lists; each enters the digest as its length, its keys and its values, column by column."""
    stream = iter(rows)
    while batch := list(islice(stream, ROWS_AT_ONCE)):
        keys: tuple[Any, ...]
        values: tuple[bytes, ...]
        keys, values = zip(*batch, strict=True)
        columns = [pack_numbers([len(batch)])]
        columns += (pack_numbers(keys),) if table.is_numbered else (pack_numbers(map(len, keys)), *keys)
        digest.update(b"".join([*columns, pack_numbers(map(len, values)), *values]))
        yield batch
