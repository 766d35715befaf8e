"""Modules of torch; each test needs the extra."""

import copy
import pickle
import sys

import numpy as np
import pytest

import hardness
from hardness.icl.prompts import Prompts
from hardness.learners import Outcome
from hardness.learners.plugins import Module, adapt, load, template
from hardness.oracles import Budget, clock
from hardness.runs.registry import parse_learner
from hardness.runs.run import run
from instances import ToolkitError, UsageError, parse

pytestmark = pytest.mark.plugins


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="the extra `torch` is not installed")


def learned(learner, spec, examples=None, seed=0, seconds=None):
    budget = Budget(examples=examples, seconds=seconds)
    return run(adapt(learner, "here"), parse(spec).instance(0), budget, seed)


def layers(torch):
    nn = torch.nn

    def make(inputs, outputs):
        return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, outputs))

    return make


def own_layer(torch, m=2, d=6):
    """An attention layer as a user writes it, without reset_parameters."""

    class Own(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.theta = torch.nn.Parameter(torch.randn(m, d, d))
            self.w = torch.nn.Parameter(torch.randn(m, d, d))

        def forward(self, x):
            x = x[:, None]
            return (torch.softmax(x @ self.theta @ x.mT, -1) @ x @ self.w).sum(1)

        def layer(self):
            return self.theta, self.w

    return Own()


def test_a_network_solves_a_pair_and_leaves_the_generator_alone(torch):
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    found = learned(Module(layers(torch), rate=0.01, view="z"), "parity:d=10,m=2", 4000)
    assert found.outcome is Outcome.SOLVED
    assert found.details["view"] == "z"
    assert (torch.random.get_rng_state() == before).all()
    torch.rand(3)
    again = learned(Module(layers(torch), rate=0.01, view="z"), "parity:d=10,m=2", 4000)
    assert again.risk == found.risk
    again = Module(layers(torch), rate=0.01, view="z")
    other = learned(again, "parity:d=10,m=2", 4000, seed=1)
    assert other.risk != found.risk


def test_a_module_is_a_pattern_and_is_left_alone(torch):
    net = torch.nn.Sequential(torch.nn.LazyLinear(32), torch.nn.ReLU(), torch.nn.LazyLinear(1))
    given = Module(net, steps=300, rate=0.01, view="z")
    found = learned(given, "parity:d=8,m=1", 1000)
    assert found.outcome is Outcome.SOLVED
    assert learned(given, "parity:d=8,m=1", 1000).risk == found.risk
    assert net[0].in_features == 0


def test_a_network_sees_samples(torch):
    given = Module(layers(torch), rate=0.01, view="samples")
    found = learned(given, "lpn:n=6,h=1,noise=0", 1000)
    assert found.outcome is Outcome.SOLVED
    assert found.details["view"] == "samples"


def test_tokens_and_flat_rows(torch):
    """A linear layer's labels are linear in the tokens here, so a linear module fits them."""
    for view in ("tokens", "flat"):
        found = learned(Module(torch.nn.Linear, view=view, steps=200), "nice:m=2,k=2,d=4", 1000)
        assert found.details["view"] == view
        assert 0 < found.risk < 1
    assert learned(torch.nn.Linear, "nice:m=2,k=2,d=4", 500).details["view"] == "tokens"


def test_a_layer_hands_its_heads_and_the_trained_module_back(torch):
    given, seen = own_layer(torch), []
    made = Module(given, rate=0.01, callback=lambda *losses: seen.append(list(losses)))
    found = learned(made, "nice:m=2,k=2,d=6", 1000)
    assert found.outcome is Outcome.SOLVED
    assert max(found.details["truth"]["theta_errors"]) < 0.2
    assert found.details["curve"] == seen
    assert found.model is not given
    x = np.random.default_rng(0).normal(size=(5, 2, 6))
    said = found.model(torch.from_numpy(x).float()).detach().numpy()
    assert np.abs(found.layer(x) - said).max() < 1e-5


def test_all_parameters_are_drawn_from_the_runs_seed_or_kept_where_asked(torch):
    """Two objects of one class, with other weights, give one run: nothing of them survives."""
    heads = torch.nn.MultiheadAttention(6, 2, batch_first=True)
    for make in (lambda: own_layer(torch), lambda: copied(torch, heads)):
        first, again = (
            learned(Module(make(), steps=20), "nice:m=2,k=2,d=6", 200).risk for _ in range(2)
        )
        assert first == again
        assert first != learned(Module(make(), steps=20), "nice:m=2,k=2,d=6", 200, seed=1).risk
    good = learned(Module(own_layer(torch), rate=0.01), "nice:m=2,k=2,d=6", 1000).model
    warm = learned(Module(good, steps=1, warm_start=True), "nice:m=2,k=2,d=6", 100)
    cold = learned(Module(good, steps=1), "nice:m=2,k=2,d=6", 100)
    assert (warm.outcome, cold.outcome) == (Outcome.SOLVED, Outcome.LEARNED_NOTHING)
    assert warm.details["start"] == "the weights given"


def copied(torch, module):
    made = copy.deepcopy(module)
    for value in made.parameters():
        torch.nn.init.normal_(value)
    return made


def test_optimizer_schedule_and_patience_are_taken(torch):
    given = Module(
        own_layer(torch),
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.0),
        schedule=lambda optimizer: torch.optim.lr_scheduler.ConstantLR(optimizer),
        patience=200,
    )
    found = learned(given, "nice:m=2,k=2,d=6", 200)
    assert found.details["steps"] == 320  # a look each 80 steps: the first gained
    assert len({held for _, _, held in found.details["curve"]}) == 1


@pytest.mark.parametrize(("noise", "stops"), [("0.1", 20), ("0", 1)])
def test_label_noise_does_not_end_training(torch, noise, stops):
    """A held-out loss below the target ends it at the first look, if no noise is counted in it."""
    given = Module(own_layer(torch), steps=20, target=100.0)
    made = learned(given, f"nice:m=2,k=2,d=6,noise={noise}", 200)
    assert made.details["steps"] == stops


def test_a_layer_that_is_no_method_is_left_alone(torch):
    """Many modules call an inner one `layer`; heads are those of a method."""

    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(6, 6)

        def forward(self, x):
            return self.layer(x)

    assert learned(Module(Wrapped(), steps=5), "nice:m=2,k=2,d=6", 100).layer is None


def test_why_a_module_gave_no_layer_is_in_the_details(torch):
    class Wrong(torch.nn.Linear):
        def layer(self):
            return self.weight, self.weight

    heads = torch.nn.MultiheadAttention(6, 2, batch_first=True)
    for module, said in ((Wrong(6, 6), "must have the shape"), (heads, "biases add one")):
        found = learned(Module(module, steps=100), "nice:m=2,k=2,d=6", 300)
        assert found.layer is None
        assert said in found.details["no_layer"]


def test_seconds_begin_after_the_first_step(torch, monkeypatch):
    """What torch imports, however long, is no part of learning: the clock moves in `warm_up`."""
    now = [0.0]
    monkeypatch.setattr(clock, "now", lambda: now[0])
    warm_up = Module.warm_up

    def slow(self, family):
        warm_up(self, family)
        now[0] += 1000.0

    monkeypatch.setattr(Module, "warm_up", slow)
    given = Module(own_layer(torch), steps=5, callback=lambda *_: now.__setitem__(0, now[0] + 1))
    made = learned(given, "nice:m=2,k=2,d=6", 100, seconds=30.0)
    assert made.outcome is not Outcome.SECONDS_SPENT
    assert made.seconds == 5.0
    made = run(parse_learner("attention:steps=5"), parse("nice:m=2,k=2,d=6").instance(0), Budget())
    assert made.seconds == 0.0


def test_a_learner_of_torch_gives_the_same_twice(torch):
    instance = parse("nice:m=2,k=2,d=6").instance(0)
    for text in ("transformer:steps=10", "attention:steps=10"):
        first, again = (run(parse_learner(text), instance, Budget(examples=200)) for _ in "ab")
        assert first.risk == again.risk
        assert first.details == again.details


def test_a_model_trained_outside_is_judged(torch):
    """`hardness.datasets.torch` gives what a loop trains on, `hardness.risk` judges."""
    spec, net = "nice:m=2,k=2,d=4", torch.nn.Linear(4, 4)
    train, test = hardness.datasets.torch(spec, 400, 1, test_samples=100)
    assert (len(train), len(test)) == (400, 100)
    whole = hardness.datasets.torch(spec, 500, 1).tensors  # no example is drawn for both
    for column in (0, 1):
        both = torch.cat([train.tensors[column], test.tensors[column]])
        assert (both == whole[column]).all()
    before = hardness.risk(net, spec, seed=1)
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=100)
    x, y = train.tensors

    def closure():
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert hardness.risk(net, spec, seed=1).high < min(1, before.low)
    assert hardness.risk(net, spec, seed=2).low > 1  # of another instance


def test_prompts_are_tensors(torch):
    law = Prompts(n=6, sigma=np.eye(3), task=np.eye(3))
    z, target = hardness.datasets.prompts(law, 50).tensors
    assert (z.shape, target.shape) == ((50, 7, 4), (50,))
    assert (z[:, -1, -1] == 0).all()
    loss, error = hardness.datasets.prompt_loss(lambda z: torch.zeros(len(z), 1), law)
    assert abs(loss - law.power) < 5 * error


def test_time_ends_training(torch, ticks):
    ticks(0.1)
    given = Module(layers(torch), steps=10**5, view="z")
    found = learned(given, "parity:d=30,m=12", 2000, seconds=10.0)
    assert found.outcome is Outcome.SECONDS_SPENT


def test_training_that_diverges_says_so(torch):
    found = learned(Module(layers(torch), rate=100.0, view="z"), "parity:d=8,m=3", 1000)
    assert found.outcome in (Outcome.STAGE_FAILED, Outcome.LEARNED_NOTHING, Outcome.PARTIAL)

    class Nan(torch.nn.Linear):
        def forward(self, x):
            return super().forward(x) * float("nan")

    found = learned(Module(lambda: Nan(8, 8), name="nan"), "parity:d=8,m=3", 1000)
    assert found.outcome is Outcome.STAGE_FAILED
    assert found.risk == pytest.approx(1.0)


def test_modules_that_do_not_fit(torch):
    nn = torch.nn
    for make, words in [
        (lambda: nn.Linear(8, 2), r"\(2, 2, 8\) to \(2, 2, 8\) \(it gives \(2, 2, 2\)\)"),
        (
            lambda: nn.Linear(7, 8),
            r"^Linear does not map \(2, 2, 8\) .* \(RuntimeError: mat1 .*view='flat'\)$",
        ),
        (lambda: 3, "Module: an int was made: a torch module is needed"),
        (lambda: nn.LSTM(8, 8), r"^LSTM does not map .* got tuple\)"),
        (lambda: nn.Identity(), "has no parameters"),
        (lambda: nn.TransformerEncoderLayer(8, 2), "mix examples without batch_first=True"),
    ]:
        with pytest.raises(UsageError, match=words):
            learned(Module(make, name="net"), "parity:d=8,m=3", 100)
    with pytest.raises(UsageError, match="needs in_features, out_features, bias") as caught:
        adapt(type("Three", (torch.nn.Linear,), {"__init__": three}), "mine.py: Three")
    assert "the class Three" in str(caught.value)
    if not torch.cuda.is_available():
        with pytest.raises(
            UsageError, match=r"^device must be 'auto' or 'cpu', got 'cuda': torch sees no GPU"
        ):
            learned(Module(nn.Linear(8, 8), device="cuda"), "parity:d=8,m=3", 100)
    with pytest.raises(UsageError, match="of a lambda say name="):
        Module(lambda: nn.Linear(8, 8))
    assert adapt(lambda: nn.Linear(8, 8), "here").name == "Linear"


def three(self, in_features, out_features, bias):
    pass


def test_settings_out_of_range():
    for given, words in (
        ({"steps": 0}, "steps must be .*, got 0"),
        ({"batch": 1.5}, "batch must be .*, got 1.5"),
        ({"rate": 0}, "rate must be .*, got 0"),
        ({"view": "bits"}, "view must be .*, got bits"),
    ):
        with pytest.raises(UsageError, match=words):
            Module(len, **given)
    with pytest.raises(UsageError, match="takes a torch module, or make"):
        Module(3)


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ToolkitError, match=r"pip install 'hardness-toolkit\[torch\]'"):
        learned(Module(lambda: None, name="none"), "parity:d=8,m=3", 100)


def test_what_the_docs_write_climbs(torch, tmp_path):
    """An example, and what stands in the template's comments."""
    pytest.importorskip("sklearn", reason="the extra `sklearn` is not installed")
    code = template("mine", "new.py")
    start = code.index("# from hardness.learners.plugins import Estimator")
    code = code[start : code.index("# 3. ")]
    lines = [line.removeprefix("# ") for line in code.splitlines()]
    kept = [line for line in lines if not line.startswith(("#", "2. "))]
    (tmp_path / "new.py").write_text("\n".join(kept) + "\n")
    for text, spec in (
        ("docs/examples/torch_mlp.py:Mlp", "parity:d=10,m=3"),
        ("docs/examples/torch_heads.py:heads", "nice:m=2,k=2,d=8"),
        (f"{tmp_path}/new.py:Forest", "parity:d=8,m=2"),
        (f"{tmp_path}/new.py:Net", "parity:d=8,m=2"),
    ):
        assert learned(load(text), spec, 4000).outcome is Outcome.SOLVED, text


def test_the_heads_of_the_docs_are_compared_with_the_true_ones():
    """`layer()` multiplies the linear maps around the attention into its heads."""
    found = learned(load("docs/examples/torch_heads.py:heads"), "nice:m=2,k=2,d=8", 4000)
    assert max(found.details["truth"]["theta_errors"]) < 0.1


# Workers are forked, which newer versions of Python warn of where there are threads.
@pytest.mark.filterwarnings("ignore:This process")
def test_a_torch_dataset(torch):
    from torch.utils.data import DataLoader

    found = hardness.datasets.torch("parity:d=9,m=2", 100, 3)
    x, y = hardness.datasets.make("parity:d=9,m=2", 100, 3)
    assert len(found) == 100
    assert found[5][0].dtype == torch.float32
    assert found[5][0].shape == found[5][1].shape == (2, 9)
    assert (found[-1][0].numpy() == x[-1]).all()
    assert np.allclose(found[10:20][1].numpy(), y[10:20])
    again = pickle.loads(pickle.dumps(found))  # as workers get it that are not forked
    assert (again[7][1] == found[7][1]).all()
    for workers in (0, 2):
        loader = DataLoader(found, batch_size=32, num_workers=workers)
        parts = [part.numpy() for part, _ in loader]
        assert [len(part) for part in parts] == [32, 32, 32, 4]
        assert (np.concatenate(parts) == x).all()


SAVED = """
import torch
net = torch.nn.Linear(6, 6)
"""


def test_the_weights_of_a_learner_from_a_file_are_written(torch, tmp_path):
    from safetensors.numpy import load_file

    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.py").write_text(SAVED)
    weights = tmp_path / "weights.safetensors"
    learner = f"{tmp_path}/mine/mine.py:net"
    hardness.learn(learner, "nice:m=1,k=2,d=6", budget_examples=2000, save_model=weights)
    shapes = {name: array.shape for name, array in load_file(weights).items()}
    assert shapes == {"weight": (6, 6), "bias": (6,)}
