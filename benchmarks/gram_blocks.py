"""A sampled Gram matrix in blocks: killed half-way, resumed by block, put together, compared.

Run on its own, `gram_blocks.py MEMBERS SAMPLES` prints the rows. The parts lie in a folder, a file
each, as a store would keep them. Peaks are those of the system (VmHWM), so it runs on Linux only.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np

from hardness.compare.jobs import GramCut, gram_cut, read_job
from hardness.compare.store.rows import PartRow
from hardness.kernels import onebit
from hardness.kernels.planes import planes, where_counts
from hardness.lower.verify import fresh

SPEC = "parity:d=64,m=8"
WORKERS = 2
_GIVE_UP = 3600  # seconds
_LOOK = 0.2
_CHUNK = 1 << 17  # tokens


def rows(members: int, samples: int) -> list[str]:
    """Measure it all: time, memory, what was done twice, and what the matrix says."""
    with tempfile.TemporaryDirectory() as folder:
        parts = gram_cut(SPEC, members, samples).parts
        work = [sys.executable, __file__, str(members), str(samples), folder]
        start = time.perf_counter()
        killed = _kill_at(work, Path(folder), parts // 2)
        kept = len(list(Path(folder).glob("*.part")))
        first = time.perf_counter() - start
        done = subprocess.run(work, stdout=subprocess.PIPE, text=True, check=True)
        seconds = time.perf_counter() - start
        found = json.loads(done.stdout)
        worker = max(float(f.read_text()) for f in Path(folder).glob("*.peak"))
        kilobytes = sum(f.stat().st_size for f in Path(folder).glob("*.part")) / 1000
    size = f"{members} members, {samples:.0e} samples"
    stages = shares(members)
    total = sum(stages.values())
    return [
        f"| sampled Gram matrix, {size}, {parts} blocks, {WORKERS} processes | {seconds:.0f} s | "
        f"killed after {first:.0f} s ({'' if killed else 'not '}by SIGKILL) with {kept} blocks "
        f"kept; resumed: {found['done']} blocks, {kept + found['done'] - parts} twice |",
        f"| its memory | {worker:.0f} MB a worker at most | {found['driver_peak']:.0f} MB to put "
        f"it together ({found['assembly_seconds']:.1f} s); blocks of {kilobytes / parts:.0f} kB "
        f"on average, {kilobytes / 1000:.0f} MB in all |",
        f"| its agreement | largest deviation {found['largest_deviation']:.2e} | radius "
        f"{found['radius']:.2e} at confidence {found['confidence']}, {found['samples_used']} "
        f"samples used, {found['disagreements']} of {found['pairs']} correlations disagree |",
        f"| one block's stages, first strip | {100 * stages['kernel'] / total:.0f} % in the "
        "one-bit kernel | "
        + ", ".join(f"{name} {100 * s / total:.1f} %" for name, s in stages.items())
        + f"; {rate(members, stages):.0f} Gop/s in the kernel |",
    ]


def shares(members: int) -> dict[str, float]:
    """Time the stages of a block, on one chunk of its tokens: the least CPU seconds by name."""
    cut = gram_cut(SPEC, members, 1 << 24)
    family, chosen = cut.of.family, cut.of.chosen
    draw, low = fresh(family, 0), np.array([v < 0 for v in family.values])
    out = np.zeros((min(cut.rows, members), members), np.int64)
    places = np.array(chosen)
    seconds = dict.fromkeys(("tokens", "planes", "members' bits", "kernel"), np.inf)
    for turn in range(6):
        times = [time.thread_time()]
        words = draw(0, _CHUNK)
        z = (words[:, 0] ^ words[:, 1])[family.open(words)]
        times.append(time.thread_time())
        table = planes(z, family.d)
        times.append(time.thread_time())
        bits = where_counts(table, places, low)
        if len(z) % 64:
            bits[:, -1] &= np.uint64((1 << len(z) % 64) - 1)
        times.append(time.thread_time())
        onebit.add_distances(bits, len(z), out)
        times.append(time.thread_time())
        if turn:  # the first warms
            for name, taken in zip(seconds, np.diff(times), strict=True):
                seconds[name] = min(seconds[name], float(taken))
    return seconds


def rate(members: int, stages: dict[str, float]) -> float:
    """Count the products of the first strip in 1e9 a second of its kernel."""
    cut = gram_cut(SPEC, members, 1 << 24)
    strip = min(cut.rows, members)
    pairs = strip * members - strip * (strip - 1) / 2
    return pairs * _CHUNK / 2 / stages["kernel"] / 1e9


def resume(members: int, samples: int, folder: Path) -> dict[str, object]:
    """Do the parts that are missing, and put all of them together."""
    cut = gram_cut(SPEC, members, samples)
    missing = [i for i in range(cut.parts) if not _file(folder, i).exists()]
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        jobs = {}
        for i in missing:
            job = cut.part(i)
            jobs[pool.submit(attempt, json.dumps({"kind": job.kind, **job.to_json()}))] = i
        for done, future in enumerate(as_completed(jobs), 1):
            result, peak = future.result()
            (folder / f"{jobs[future]}.peak").write_text(str(peak))
            beside = folder / "new"
            beside.write_bytes(cut.content(result))
            beside.replace(_file(folder, jobs[future]))
            print(f"{done} of {len(missing)} blocks", file=sys.stderr, flush=True)
    start = time.perf_counter()
    content = assembled(cut, folder)
    return {
        **content,
        "done": len(missing),
        "assembly_seconds": time.perf_counter() - start,
        "driver_peak": peak_megabytes(),
    }


def assembled(cut: GramCut, folder: Path) -> dict[str, object]:
    """Put the parts of a folder together, one in memory at a time."""
    kept = (
        PartRow(whole=cut.key, index=i, content=_file(folder, i).read_bytes())
        for i in range(cut.parts)
    )
    return cut.assemble(kept).content


def attempt(payload: str) -> tuple[dict[str, object], float]:
    """Do a job in a worker: its result, and the peak of the process so far."""
    return read_job(json.loads(payload)).do(), peak_megabytes()


def peak_megabytes() -> float:
    """The peak resident memory of this process alone."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))


def _kill_at(work: list[str], folder: Path, wanted: int) -> bool:
    """Start the work, and kill it with all its processes when so many parts are there."""
    process = subprocess.Popen(
        work, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    start = time.monotonic()
    while len(list(folder.glob("*.part"))) < wanted and process.poll() is None:
        if time.monotonic() - start > _GIVE_UP:
            break
        time.sleep(_LOOK)
    running = process.poll() is None
    if running:
        os.killpg(process.pid, signal.SIGKILL)  # the session that was started here
    process.wait()
    return running


def _file(folder: Path, index: int) -> Path:
    return folder / f"{index}.part"


if __name__ == "__main__":
    _members, _samples = int(sys.argv[1]), int(float(sys.argv[2]))
    if len(sys.argv) > 3:
        print(json.dumps(resume(_members, _samples, Path(sys.argv[3]))))
    else:
        print("\n".join(rows(_members, _samples)))
