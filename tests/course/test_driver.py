import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.course.driver import Driver, NoWorkersError, SerialExecutor
from autograder.course.options import Options
from autograder.course.pool import open_driver


def test_no_more_jobs_are_handed_in_than_the_window_holds():
    """Memory must not grow with the class: jobs are made when there is room for them."""
    taken, finished, widest = [], [], 0
    lock = threading.Lock()

    def jobs():
        nonlocal widest
        for number in range(200):
            with lock:
                taken.append(number)
                widest = max(widest, len(taken) - len(finished))
            yield number

    def work(number):
        time.sleep(0.0005)
        return number

    with Driver(lambda: ThreadPoolExecutor(2), work, window=6) as driver:
        results = []
        for outcome in driver.run(jobs()):
            with lock:
                finished.append(outcome.job)
            results.append(outcome.result)
    assert sorted(results) == list(range(200))
    assert widest <= 7


def test_a_job_that_fails_is_tried_again_and_then_given_up():
    tries = []

    def work(job):
        tries.append(job)
        if job == "bad" or (job == "shy" and tries.count("shy") == 1):
            raise RuntimeError("no")
        return job.upper()

    with Driver(SerialExecutor, work, window=1) as driver:
        outcomes = {one.job: one for one in driver.run(["good", "bad", "shy"])}
    assert outcomes["shy"].result == "SHY"
    assert outcomes["bad"].error == "RuntimeError: no (2 attempts)"
    assert tries.count("bad") == 2


def test_workers_that_die_whatever_they_do_end_the_run():
    from concurrent.futures import BrokenExecutor

    class Broken(SerialExecutor):
        def submit(self, fn, /, *args, **kwargs):
            raise BrokenExecutor

    with Driver(Broken, str, window=2) as driver, pytest.raises(NoWorkersError):
        list(driver.run(range(5)))


def test_an_executor_of_somebody_else_is_used_and_left_open():
    """`distributed.Client.get_executor()` goes this way."""
    with ThreadPoolExecutor(2) as executor:
        with open_driver(Options(executor=executor), str, number=3) as driver:
            assert sorted(one.result for one in driver.run([1, 2, 3])) == ["1", "2", "3"]
        assert executor.submit(str, 4).result() == "4"
