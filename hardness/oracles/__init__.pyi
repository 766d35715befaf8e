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
    Adversary as Adversary,
    CertificateAdversary as CertificateAdversary,
    ExactOracle as ExactOracle,
    GameRecord as GameRecord,
    QueryOracle as QueryOracle,
    ReferenceAdversary as ReferenceAdversary,
    Round as Round,
    SampledOracle as SampledOracle,
)
