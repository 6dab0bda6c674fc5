import asyncio
import os

import pytest

from latence_retrieval.blocking_calls import run_blocking


async def answer(value):
    await asyncio.sleep(0)
    return value


def test_a_call_inside_another_is_refused_rather_than_waiting_for_itself():
    async def outer():
        return run_blocking(answer(1))

    with pytest.raises(RuntimeError, match="await the asynchronous method"):
        run_blocking(outer())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_starts_a_loop_of_its_own():
    assert run_blocking(answer(1)) == 1
    child = os.fork()
    if child == 0:
        os._exit(0 if run_blocking(answer(2)) == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
