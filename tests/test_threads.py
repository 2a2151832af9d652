"""The number of threads changes nothing."""

DIGESTS = """
import hashlib
import numpy as np
import fedrank as fr

def show(name, *arrays):
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays))
    print(name, digest.hexdigest())

for phi in (0.0, 0.3, 0.9, 0.999, 1.0):
    show(f"sample {phi}", fr.Mallows(phi, n=300).sample(500, rng=1).ranks)
votes = fr.Mallows(0.97, n=60).sample(400, rng=2)
tied = fr.Rankings(np.vstack([votes.ranks[:20], 59 - votes.ranks[:20]]))
for method in ("borda", "lehmer", "footrule", "pivot", "pick", "kemeny"):
    for data in (votes, tied):
        for ties in ("random", "index"):
            found = fr.aggregate(data, method, ties=ties, rng=3)
            facts = [found.ties, found.objective or 0, found.lower_bound or 0]
            show(f"{method} {ties}", found.ranks, np.array(facts))
scores = np.random.default_rng(4).integers(0, 4, (500, 30))
show("scores", fr.Rankings.from_scores(scores, rng=5).ranks)
ballots = [list("abcdefgh"[: i % 8]) for i in range(500)]
show("ballots", fr.Rankings.from_ballots(ballots, items="abcdefgh", rng=6).ranks)
show("kendall", fr.kendall_distance(votes, votes), fr.footrule_distance(votes, votes))
show("lehmer", fr.lehmer_encode(votes), fr.lehmer_decode(fr.lehmer_encode(votes)))
show("pairs", fr.pairwise_counts(votes), np.array(fr.kemeny_score(votes[0], votes)))
model = fr.Mallows.fit(votes, rng=7)
show("fit", np.array(model.phi), model.center, model.log_prob(votes), model.expected_ranks())
"""


def test_thread_count_changes_nothing(python):
    found = []
    for threads in ("1", "2", "4", "7"):
        done = python(DIGESTS, RAYON_NUM_THREADS=threads)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.splitlines())
    assert len(found[0]) == 35
    assert all(each == found[0] for each in found)


def test_threads_of_the_caller_may_work_at_once(python):
    done = python(
        "import numpy as np, fedrank as fr\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def work(seed):\n"
        "    votes = fr.Mallows(0.9, n=100).sample(200, rng=seed)\n"
        "    return fr.aggregate(votes, 'kemeny', rng=seed).ranks.tolist()\n"
        "alone = [work(seed) for seed in range(8)]\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    assert list(pool.map(work, range(8))) == alone\n"
    )
    assert done.returncode == 0, done.stderr
