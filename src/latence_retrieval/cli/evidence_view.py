"""A result for a screen: spans marked in the question, chains with the sentences that witness them, what was packed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from latence_retrieval.cli.terminal import Terminal, cells, clipped, padded, wrapped
from latence_retrieval.evidence_result import EvidenceResult
from latence_retrieval.records import Chunk
from latence_retrieval.results import Anchor, Chain, Hop, WitnessedEntity
from latence_retrieval.sidecar.codec import ANY_SENTENCE, TITLE_MASK, sentence_mask
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.text.sentences import sentence_spans

__all__ = ["EvidenceView"]

_MAX_ANCHORS_SHOWN = 4
_MAX_QUOTE_LINES = 3


class EvidenceView:
    """Lines that show one result on one terminal."""

    def __init__(self, result: EvidenceResult, sidecar: Sidecar, terminal: Terminal) -> None:
        """Show `result`, which `sidecar` gave, on `terminal`."""
        self._result = result
        self._sidecar = sidecar
        self._terminal = terminal

    def question_lines(self) -> Iterator[str]:
        """Yield the question, the words that matched underlined, and the anchors that they gave."""
        query = " ".join(self._result.query.split()) if "\n" in self._result.query else self._result.query
        spans = [(a.start, a.end) for a in self._result.anchors if a.start is not None and a.end is not None]
        for begin, line in wrapped(query, self._terminal.width - 2):
            yield "  " + self._terminal.bold(line)
            if query == self._result.query and any(start < begin + len(line) and end > begin for start, end in spans):
                yield "  " + _underline(line, begin, spans)
        if not self._result.anchors:
            yield self._terminal.dim("  no anchor: the walk starts from the first stage's hits")
        for anchor in self._result.anchors[:_MAX_ANCHORS_SHOWN]:
            yield self._anchor_line(anchor)
        if len(self._result.anchors) > _MAX_ANCHORS_SHOWN:
            yield self._terminal.dim(f"  and {len(self._result.anchors) - _MAX_ANCHORS_SHOWN} more anchors")

    def chain_lines(self, chain: Chain) -> Iterator[str]:
        """Yield a chain hop by hop, each with the passage that witnesses it and the sentence that names its target."""
        joined = "; it joins two anchors" if chain.joins else ""
        place = self._result.chains.index(chain) + 1
        yield self._terminal.dim(f"  chain {place} of {len(self._result.chains)}, score {chain.score:.2f}{joined}")
        quoted = ""
        for number, hop in enumerate(chain.hops, start=1):
            chunk = self._chunk(hop.chunk_id)
            yield from self._hop_lines(number, hop, chunk)
            quote = self._sentence(chunk, hop) if hop.target is not None else chunk.text
            if quote != quoted:
                yield from self._quote_lines(quote)
            quoted = quote

    def packed_lines(self) -> Iterator[str]:
        """Yield the packed passages with their tokens."""
        selection = self._result.selection
        yield self._terminal.bold(f"  packed: {selection.tokens} of {selection.budget_tokens} tokens")
        for selected in selection.chunks:
            title = padded(selected.chunk.title or selected.chunk.text, self._terminal.width - 41)
            yield f"  [{selected.citation}]".ljust(7) + f"{title} {selected.chunk.id:<20.20}{selected.tokens:>6} tokens"

    def degradation_lines(self) -> Iterator[str]:
        """Yield what a stage could not do."""
        for item in self._result.degradations:
            yield self._terminal.dim(clipped(f"  {item.stage}: {item.reason}", self._terminal.width))

    def _anchor_line(self, anchor: Anchor) -> str:
        by = f"by “{anchor.form}”" if anchor.form is not None else "by its vector"
        others = [homonym.name for homonym in anchor.passed_over[:2]]
        passed = f"; passed over: {', '.join(others)}" if others else ""
        kind = self._terminal.name(anchor.name)
        return f"  {kind} {by}, weight {anchor.weight:.2f}, tier {anchor.tier}{passed}"

    def _hop_lines(self, number: int, hop: Hop, chunk: Chunk) -> Iterator[str]:
        source = hop.source.name if hop.source else "first stage"
        target = hop.target.name if hop.target else "this passage"
        plain = f"  {number}  {source} ─ {hop.relation} → {target}"
        shown = (
            f"  {number}  {self._terminal.name(source)} ─ {hop.relation} → "
            f"{self._terminal.name(target) if hop.target else target}"
        )
        room = self._terminal.width - cells(plain) - 2
        witness = f"{chunk.title or 'untitled'} [{chunk.id}]"
        if room >= min(cells(witness), 24):
            witness = clipped(witness, room)
            yield shown + " " * (2 + room - cells(witness)) + self._terminal.dim(witness)
        else:
            yield shown
            yield self._terminal.dim(clipped(f"     witnessed by {witness}", self._terminal.width))

    def _quote_lines(self, text: str) -> Iterator[str]:
        width = self._terminal.width - 7
        lines = [line for _, line in wrapped(f"“{' '.join(text.split())}”", width)]
        if len(lines) > _MAX_QUOTE_LINES:
            lines = [*lines[: _MAX_QUOTE_LINES - 1], clipped(" ".join(lines[_MAX_QUOTE_LINES - 1 :]), width)]
        for line in lines:
            yield f"     {line}"

    def _chunk(self, identifier: str) -> Chunk:
        number = self._sidecar.chunk_numbers([identifier])[0]
        if number is None:  # pragma: no cover - a result always speaks of its own snapshot
            return Chunk(id=identifier, text="")
        return self._sidecar.chunks([number])[0]

    def _sentence(self, chunk: Chunk, hop: Hop) -> str:
        """Return the sentence of `chunk` that names the hop's target, and best its source as well."""
        spans = sentence_spans(chunk.text)
        wanted = [self._mask(chunk, entity) for entity in (hop.target, hop.source) if entity is not None]
        best = max(
            range(len(spans)),
            key=lambda at: ([bool(mask & sentence_mask(at)) for mask in wanted], -at),
            default=None,
        )
        return chunk.text if best is None else chunk.text[slice(*spans[best])]

    def _mask(self, chunk: Chunk, entity: WitnessedEntity) -> int:
        """Return which sentences name the entity; none where the input linked it to the chunk as a whole."""
        numbers = self._sidecar.chunk_numbers([chunk.id]), self._sidecar.entity_numbers([entity.entity_id])
        (chunk_number,), (entity_number,) = numbers
        links = None if chunk_number is None else self._sidecar.links([chunk_number])[0]
        if links is None or entity_number is None:
            return 0
        mask = 0
        for value, sentences in zip(links.entities, links.masks, strict=True):
            if value >> 1 == entity_number and sentences != ANY_SENTENCE:
                mask |= sentences
        return mask & ~TITLE_MASK


def _underline(line: str, begin: int, spans: Sequence[tuple[int, int]]) -> str:
    """Return marks that stand below the characters of `line` that a span covers."""
    marks = ""
    for at, character in enumerate(line, start=begin):
        covered = any(start <= at < end for start, end in spans)
        marks += ("^" if covered else " ") * cells(character)
    return marks.rstrip()
