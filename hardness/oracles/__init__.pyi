from .adversary import (
    Adversary as Adversary,
    CertificateAdversary as CertificateAdversary,
    GameRecord as GameRecord,
    ReferenceAdversary as ReferenceAdversary,
    Round as Round,
)
from .budget import Budget as Budget, Meter as Meter, Spent as Spent, Usage as Usage
from .examples import (
    ChoiceOracle as ChoiceOracle,
    Epochs as Epochs,
    ExampleOracle as ExampleOracle,
    Rounds as Rounds,
    ValueOracle as ValueOracle,
)
from .means import Listed as Listed, Means as Means
from .query import (
    Character as Character,
    Correlational as Correlational,
    Factor as Factor,
    Pool as Pool,
    Query as Query,
    Table as Table,
)
from .statistical import (
    ExactOracle as ExactOracle,
    QueryOracle as QueryOracle,
    SampledOracle as SampledOracle,
)
