"""Several machines that share no disk: the same bits as on one, whatever breaks."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import across
import pytest
from machines import PATIENCE, Machines, wait_for, why_not

import manylabel
from manylabel.corpus import load_catalogue, write

HERE = Path(__file__).parent
REASON = why_not()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(REASON is not None, reason=f"no machines here: {REASON}"),
    pytest.mark.filterwarnings("ignore"),
]


class Site:
    """A scheduler and two workers, each on its own machine."""

    def __init__(self, machines: Machines, folder: Path, delay: float = 0.0) -> None:
        self.machines, self.folder, self.delay = machines, folder, delay
        source = Path(manylabel.__file__).parents[1]
        self.env = {
            "PYTHONPATH": os.pathsep.join([str(source), str(HERE.parent)]),
            # A link that is down says nothing: notice it soon.
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "15s",
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "20s",
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "20",
        }
        self.start_scheduler()
        self.workers = {number: self.start_worker(number) for number in (1, 2)}

    def _dask(self, number: int, module: str, *words: str):
        command = [sys.executable, "-m", f"distributed.cli.{module}", *words]
        return self.machines.start(number, *command, log=f"{module}{number}", env=self.env)

    def start_scheduler(self) -> None:
        self.scheduler = self._dask(
            0, "dask_scheduler", "--host", "0.0.0.0", "--port", "8786", "--no-dashboard",
            "--idle-timeout", "600s",
        )  # fmt: skip
        if self.delay:
            for number in (1, 2):
                self.machines.start(
                    0, sys.executable, str(HERE.parent / "tcp_proxy.py"),
                    f"10.77.{number}.1:9000", "127.0.0.1:8786", "--delay", str(self.delay),
                    "--bandwidth", "20e6", log=f"proxy{number}", env=self.env,
                )  # fmt: skip

    def start_worker(self, number: int):
        port = 9000 if self.delay else 8786
        return self._dask(
            number, "dask_worker", f"tcp://10.77.{number}.1:{port}", "--nthreads", "1",
            "--no-nanny", "--no-dashboard", "--memory-limit", "0",
            "--host", f"10.77.{number}.2", "--death-timeout", str(PATIENCE),
        )  # fmt: skip

    def replace_worker(self, number: int) -> None:
        """Kill a worker without a warning, and start another on its machine."""
        self.workers[number].kill()
        self.workers[number].wait(PATIENCE)
        self.workers[number] = self.start_worker(number)

    def lose_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait(PATIENCE)

    def start_all_again(self) -> None:
        for worker in self.workers.values():
            worker.kill()
        self.start_scheduler()
        self.workers = {number: self.start_worker(number) for number in (1, 2)}

    def start_job(self, job: str, spool: str, name: str):
        folder = self.folder / name
        folder.mkdir()
        command = (
            sys.executable,
            str(HERE.parent / "across.py"),
            job,
            "tcp://127.0.0.1:8786",
            spool,
        )
        return folder, self.machines.start(0, *command, str(folder), log=name, env=self.env)


@pytest.fixture(scope="module")
def expected():
    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "corpus.chunks.CHUNK",
            "neighbors.index.TASK",
            "linear.training.BLOCK",
            "base.BLOCK",
        ):
            module, _, constant = f"manylabel.{name}".rpartition(".")
            __import__(module)
            patch.setattr(f"{module}.{constant}", getattr(sys.modules[module], constant))
        across.small_tasks()
        return {name: job(None) for name, job in across.JOBS.items()}


@pytest.fixture
def site(tmp_path, request):
    with Machines(tmp_path, [tmp_path]) as machines:
        yield Site(machines, tmp_path, getattr(request, "param", 0.0))


def finished(folder, process):
    wait_for(folder / "told.json", process)
    process.wait(PATIENCE)
    return json.loads((folder / "told.json").read_text())


def happened(site, job, what, spool="dask", name=None):
    """Run a job; let something happen after the third result."""
    folder, process = site.start_job(job, spool, name or job)
    wait_for(folder / "reached", process)
    what()
    (folder / "go-on").touch()
    return finished(folder, process)


@pytest.mark.parametrize("site", [0.0, 0.001, 0.02], indirect=True)
def test_machines_give_the_same_bits_over_slow_links(site, expected):
    for job in across.JOBS:
        told = happened(site, job, lambda: None)
        assert told["found"] == expected[job]
        assert told["workers"], told


class Comparison:
    """`manylabel compare` on the first machine, with results in the client's own folder."""

    def __init__(self, site: Site) -> None:
        self.site, self.spool = site, site.folder / "own"
        for part in ("train", "test"):
            write(load_catalogue(part), str(site.folder / f"{part}.jsonl"))
        command = [sys.executable, "-m", "manylabel.cli", "compare"]
        command += [str(site.folder / f"{part}.jsonl") for part in ("train", "test")]
        command += ["--models", "lcif,subset-svm", "--metrics", "p@1,p@5", "--quiet", "--json"]
        self.command = command

    def start(self, name: str, dask: bool = True):
        words = ["--dask", "tcp://127.0.0.1:8786", "--spool", f"dask:{self.spool}"]
        command = [*self.command, *(words if dask else [])]
        return self.site.machines.start(0, *command, log=name, env=self.site.env)

    def results(self) -> dict[Path, int]:
        """Finished results, and when they were written."""
        return {path: path.stat().st_mtime_ns for path in self.spool.glob("results/*/*")}

    def wait_for_results(self, process) -> None:
        while not self.results():
            assert process.poll() is None
            time.sleep(0.05)

    def told(self, name: str) -> str:
        return (self.site.folder / f"{name}.log").read_text()

    def measures(self, name: str, process) -> dict[str, dict]:
        assert process.wait(PATIENCE) == 0, self.told(name)
        told = self.told(name)
        (corpus,) = json.loads(told[told.index("{") :])["corpora"].values()
        return {model: values["measures"] for model, values in corpus["models"].items()}


@pytest.fixture(scope="module")
def compared_here(tmp_path_factory):
    with Machines(folder := tmp_path_factory.mktemp("here"), [folder]) as machines:
        comparison = Comparison(SimpleNamespace(machines=machines, folder=folder, env={}))
        measures = comparison.measures("here", comparison.start("here", dask=False))
    assert len(measures) == 2
    return measures


@pytest.mark.parametrize("site", [0.0, 0.02], indirect=True)
def test_models_are_compared_across_machines(site, compared_here):
    """A worker dies in the middle."""
    comparison = Comparison(site)
    process = comparison.start("there")
    comparison.wait_for_results(process)
    site.replace_worker(1)
    assert comparison.measures("there", process) == compared_here


def test_a_comparison_survives_a_cut_link(site, compared_here):
    comparison = Comparison(site)
    process = comparison.start("there")
    comparison.wait_for_results(process)
    site.machines.cut(2)
    assert comparison.measures("there", process) == compared_here
    site.machines.mend(2)


def test_a_comparison_goes_on_after_its_scheduler_is_lost(site, compared_here):
    comparison = Comparison(site)
    process = comparison.start("lost")
    comparison.wait_for_results(process)
    site.lose_scheduler()
    assert process.wait(PATIENCE) == 1
    told = comparison.told("lost")
    assert "can no longer be reached; start it and its workers" in told
    assert "Traceback" not in told
    before = comparison.results()
    site.start_all_again()
    process = comparison.start("again")
    assert comparison.measures("again", process) == compared_here
    assert before.items() <= comparison.results().items(), "nothing twice"


def test_a_worker_dies_and_another_comes(site, expected):
    for job in across.JOBS:
        told = happened(site, job, lambda: site.replace_worker(1))
        assert told["found"] == expected[job]


@pytest.mark.parametrize("job", across.JOBS)
def test_a_link_is_cut_and_comes_back(site, expected, job):
    told = happened(site, job, lambda: site.machines.cut(2))
    assert told["found"] == expected[job]
    assert any("10.77.1.2" in worker for worker in told["workers"])
    site.machines.mend(2)
    site.replace_worker(2)
    assert happened(site, "search", lambda: None, name="again")["found"] == expected["search"]


@pytest.mark.parametrize("job", across.JOBS)
def test_the_scheduler_is_lost_and_the_next_run_goes_on(site, expected, tmp_path, job):
    spool = f"dask:{tmp_path / 'own'}"
    told = happened(site, job, site.lose_scheduler, spool)
    assert "can no longer be reached; start it and its workers" in told["error"]
    before = told["tasks"]
    assert before >= 3
    site.start_all_again()
    folder, process = site.start_job(job, spool, "again")
    (folder / "go-on").touch()
    again = finished(folder, process)
    assert again["found"] == expected[job]
    whole, process = site.start_job(job, "dask", "whole")
    (whole / "go-on").touch()
    assert again["tasks"] <= finished(whole, process)["tasks"] - before, "nothing twice"
