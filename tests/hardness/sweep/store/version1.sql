PRAGMA application_id = 1213350961;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE array (id INTEGER PRIMARY KEY, whole NOT NULL, digest NOT NULL, name NOT NULL, content NOT NULL);
INSERT INTO "array" VALUES(1,X'EFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEF',X'A90528030496CB40','gram',X'6E7079');
CREATE TABLE budget (id INTEGER PRIMARY KEY, text NOT NULL, digest NOT NULL, examples, queries, seconds, cpu_seconds, memory_bytes);
INSERT INTO "budget" VALUES(1,'{"examples":100}',X'1917341E69E084D6',100,NULL,NULL,NULL,NULL);
CREATE TABLE certificate (id INTEGER PRIMARY KEY, key NOT NULL, digest NOT NULL, spec NOT NULL, terms NOT NULL, certificate NOT NULL);
INSERT INTO "certificate" VALUES(1,X'ABABABABABABABABABABABABABABABAB',X'6F3BE16600E79825',2,'{"tau":"1/10"}','{"claims":[]}');
CREATE TABLE context (id INTEGER PRIMARY KEY, text NOT NULL, digest NOT NULL, machine, versions, hardness, numpy, python, family_revision, learner_revision);
INSERT INTO "context" VALUES(1,'{"machine":"Linux x86_64","revisions":{"family":1,"learner":1},"versions":{"hardness":"0.1.0","numpy":"2.0.0","python":"3.11.7"}}',X'809BA2CE8412005A','Linux x86_64','{"hardness":"0.1.0","numpy":"2.0.0","python":"3.11.7"}','0.1.0','2.0.0','3.11.7',1,1);
CREATE TABLE ending (id INTEGER PRIMARY KEY, text NOT NULL, digest NOT NULL, outcome, bound, reproducible);
INSERT INTO "ending" VALUES(1,'["solved","none"]',X'226BBF319A30F134','solved','none',1);
INSERT INTO "ending" VALUES(2,'["learned nothing","none"]',X'358449E0D0F8A420','learned nothing','none',1);
INSERT INTO "ending" VALUES(3,'["examples spent","none"]',X'C4EC369CEF38CC74','examples spent','none',1);
CREATE TABLE figure (id INTEGER PRIMARY KEY, name NOT NULL, digest NOT NULL, data NOT NULL, written NOT NULL);
INSERT INTO "figure" VALUES(1,'f',X'DF9652AF4C50745D','{"x":[1.5]}',1.0);
CREATE TABLE learner (id INTEGER PRIMARY KEY, text NOT NULL, digest NOT NULL, name, parameters);
INSERT INTO "learner" VALUES(1,'elimination:checks=32',X'451B474E981D5665','elimination','{"checks":32}');
INSERT INTO "learner" VALUES(2,'trivial',X'3736B07593CC6431','trivial','{}');
INSERT INTO "learner" VALUES(3,'lowdegree:degree=2,oversample=8',X'6FB1B8D721BCF7A6','lowdegree','{"degree":2,"oversample":8}');
CREATE TABLE part (id INTEGER PRIMARY KEY, whole NOT NULL, digest NOT NULL, number NOT NULL, content NOT NULL);
INSERT INTO "part" VALUES(1,X'CDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCD',X'450A3F21CC01B2B9',3,X'0001');
CREATE TABLE run (id INTEGER PRIMARY KEY, key NOT NULL, digest NOT NULL, spec NOT NULL, learner NOT NULL, budget NOT NULL, context NOT NULL, ending NOT NULL, seed NOT NULL, attempts NOT NULL, passed NOT NULL, secret_recovered, risk, risk_low, risk_high, risk_confidence, risk_unclipped, risk_examples, examples NOT NULL, queries NOT NULL, peak_bytes NOT NULL, seconds NOT NULL, details NOT NULL);
INSERT INTO "run" VALUES(1,X'2E36504200AB089B44788EBE370DA5EE',X'E9FEA053D08F18E2',1,1,1,1,1,0,1,1,1,0.0,0.0,4.97735368832374555636e-03,0.95,0.0,8218,82,0,1048576,0.5,'{"claimed_secret":[3,9],"equations":43,"rank":9}');
INSERT INTO "run" VALUES(2,X'156ECC15F503372B5497D5150AB68B03',X'5EC517B471C0300A',1,2,1,1,2,1,1,0,NULL,1.0,9.94955110983476442854e-01,1.00504488901652355714e+00,0.95,1.0,8108,0,0,1048576,0.5,'{}');
INSERT INTO "run" VALUES(3,X'8C5DC74BEA636839E641D5B129D6426E',X'F632C09B2660CF07',1,3,1,1,3,2,1,0,NULL,1.0,9.94984804996081440009e-01,1.00501519500391855999e+00,0.95,1.0,8156,100,0,1048576,0.5,'{"examples_used":52,"monomials":46}');
CREATE TABLE spec (id INTEGER PRIMARY KEY, text NOT NULL, digest NOT NULL, family, parameters);
INSERT INTO "spec" VALUES(1,'parity:d=10,m=2,noise=0,rho=3',X'34D558C48DADF67C','parity','{"d":10,"m":2,"noise":0,"rho":3}');
INSERT INTO "spec" VALUES(2,'parity:d=10,m=2,noise=0,rho=2',X'DCB4F30B594182C2','parity','{"d":10,"m":2,"noise":0,"rho":2}');
CREATE TABLE sweep (id INTEGER PRIMARY KEY, sha256 NOT NULL, digest NOT NULL, name NOT NULL, text NOT NULL, engine NOT NULL, slots NOT NULL, state NOT NULL, planned NOT NULL, done NOT NULL, failed NOT NULL, started NOT NULL, updated NOT NULL, remaining_seconds, base_seeds NOT NULL);
INSERT INTO "sweep" VALUES(1,'6edf7486a4938f558b7489f2086b15211de381c7cfc398c8588eeace8b8ef0b4',X'354550B3C5E642B1','x','[sweep]','local',2,'running','{"a":1}','{}','{}',0.5,1.5,NULL,'{}');
CREATE TABLE whole (id INTEGER PRIMARY KEY, key NOT NULL, digest NOT NULL, kind NOT NULL, spec NOT NULL, content NOT NULL, arrays NOT NULL);
INSERT INTO "whole" VALUES(1,X'EFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEF',X'1338E0276BB4412E','gram',2,'{"a":1}','["gram"]');
CREATE UNIQUE INDEX spec_unique ON spec (text, digest);
CREATE UNIQUE INDEX learner_unique ON learner (text, digest);
CREATE UNIQUE INDEX budget_unique ON budget (text, digest);
CREATE UNIQUE INDEX context_unique ON context (text, digest);
CREATE UNIQUE INDEX ending_unique ON ending (text, digest);
CREATE UNIQUE INDEX run_unique ON run (key);
CREATE UNIQUE INDEX certificate_unique ON certificate (key);
CREATE UNIQUE INDEX part_unique ON part (whole, number);
CREATE UNIQUE INDEX whole_unique ON whole (key);
CREATE UNIQUE INDEX array_unique ON array (whole, name);
CREATE UNIQUE INDEX figure_unique ON figure (name);
CREATE UNIQUE INDEX sweep_unique ON sweep (sha256);
CREATE VIEW runs AS SELECT
    lower(hex(run.key)) AS key,
    spec.text AS spec, spec.family, spec.parameters,
    learner.text AS learner, learner.name AS learner_name,
    learner.parameters AS learner_parameters,
    run.seed,
    budget.examples AS budget_examples, budget.queries AS budget_queries,
    budget.seconds AS budget_seconds, budget.cpu_seconds AS budget_cpu_seconds,
    budget.memory_bytes AS budget_memory_bytes,
    ending.outcome, run.passed, ending.reproducible, ending.bound,
    run.risk, run.risk_low, run.risk_high, run.risk_confidence, run.risk_examples,
    run.risk_unclipped,
    run.examples, run.queries, run.secret_recovered, run.details,
    context.family_revision, context.learner_revision,
    run.seconds, run.peak_bytes, run.attempts,
    context.machine, context.versions
FROM run
    JOIN spec ON spec.id = run.spec
    JOIN learner ON learner.id = run.learner
    JOIN budget ON budget.id = run.budget
    JOIN context ON context.id = run.context
    JOIN ending ON ending.id = run.ending;
CREATE VIEW certificates AS SELECT
    lower(hex(certificate.key)) AS key, spec.text AS spec, spec.family, spec.parameters,
    certificate.terms, certificate.certificate
FROM certificate JOIN spec ON spec.id = certificate.spec;
CREATE VIEW figures AS SELECT name, data, written FROM figure;
CREATE VIEW sweeps AS SELECT
    name, state, engine, slots, planned, done, failed, started, updated, remaining_seconds,
    base_seeds, sha256, text
FROM sweep;
CREATE VIEW wholes AS SELECT
    lower(hex(whole.key)) AS key, whole.kind, spec.text AS spec, spec.family, spec.parameters,
    whole.content, whole.arrays
FROM whole JOIN spec ON spec.id = whole.spec;
COMMIT;
