-- A study of format 1 (evenhand 0.1.0): three runs of store_things.py, one done and one failed.
PRAGMA application_id = 1163284040;
BEGIN TRANSACTION;
CREATE TABLE bucket_runs (
    bucket INTEGER NOT NULL REFERENCES buckets, position INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES runs, PRIMARY KEY (bucket, position)) WITHOUT ROWID;
CREATE TABLE buckets (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, facts TEXT NOT NULL);
CREATE TABLE claims (
    bucket TEXT PRIMARY KEY, owner TEXT NOT NULL REFERENCES owners ON DELETE CASCADE,
    since TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE history (
    run INTEGER PRIMARY KEY REFERENCES records ON DELETE CASCADE, history BLOB NOT NULL);
INSERT INTO "history" VALUES(1,X'789CAB56CAC92F2E56B28A36D033D731D033D5F14BF48BAD05004BCB066D');
CREATE TABLE measured (
    run INTEGER NOT NULL REFERENCES records ON DELETE CASCADE, part TEXT NOT NULL, grouping TEXT NOT NULL,
    groups INTEGER NOT NULL REFERENCES texts, classes INTEGER NOT NULL REFERENCES texts,
    layout INTEGER NOT NULL REFERENCES texts, counts BLOB NOT NULL,
    PRIMARY KEY (run, part, grouping)) WITHOUT ROWID;
INSERT INTO "measured" VALUES(1,'test','sex',1,2,3,X'789CEB6598C9F0884196918B419BE11B830CA317432C030B631D030043690499');
INSERT INTO "measured" VALUES(1,'validation','sex',1,2,3,X'789CFBCFB09F61264300430C030F8318030B8309C36786430C828C004C130525');
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('created','2026-11-15T23:24:50+00:00');
INSERT INTO "meta" VALUES('evenhand','0.1.0');
INSERT INTO "meta" VALUES('format','1');
CREATE TABLE owners (
    owner TEXT PRIMARY KEY, entered TEXT NOT NULL, beat REAL NOT NULL,
    standings TEXT NOT NULL DEFAULT '{}') WITHOUT ROWID;
CREATE TABLE records (
    run INTEGER PRIMARY KEY REFERENCES runs, status TEXT NOT NULL, reason TEXT, detail TEXT NOT NULL,
    seconds REAL, stack_seconds REAL, stack INTEGER NOT NULL, peak_memory INTEGER NOT NULL,
    device TEXT NOT NULL, host TEXT NOT NULL, versions INTEGER NOT NULL REFERENCES texts,
    weights TEXT NOT NULL, started TEXT NOT NULL, finished TEXT NOT NULL, source TEXT NOT NULL);
INSERT INTO "records" VALUES(1,'done',NULL,'',0.5,4.0,8,1000,'cpu','here',4,'0000000000000000000000000000000000000000000000000000000000000000','2026-01-01T00:00:00+00:00','2026-01-01T00:00:04+00:00','run');
INSERT INTO "records" VALUES(2,'failed','the loss became NaN','Traceback ...',0.0,0.0,1,0,'cpu','',5,'','','','run');
CREATE TABLE runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, spec TEXT NOT NULL, data TEXT NOT NULL);
INSERT INTO "runs" VALUES(1,'a25d8d82e7ea289614ff39c2fea4c807','{"data":"adult","fields":{"lam":0.1},"groupings":[["sex"],["sex","race"]],"knobs":{"validation":0.2},"method":"erm","net":"mlp","net_options":{"widths":[64]},"parts":["validation","test"],"protect":["sex"],"recipe":{"epochs":3,"rate":0.001},"seed":0,"sources":{}}','d0');
INSERT INTO "runs" VALUES(2,'065c56a5b5120461872e7eacffd6408e','{"data":"adult","fields":{"lam":0.1},"groupings":[["sex"],["sex","race"]],"knobs":{"validation":0.2},"method":"erm","net":"mlp","net_options":{"widths":[64]},"parts":["validation","test"],"protect":["sex"],"recipe":{"epochs":3,"rate":0.001},"seed":1,"sources":{}}','d0');
INSERT INTO "runs" VALUES(3,'b3b097081fde7d00e06fb6f5a9e57c35','{"data":"adult","fields":{"lam":0.1},"groupings":[["sex"],["sex","race"]],"knobs":{"validation":0.2},"method":"erm","net":"mlp","net_options":{"widths":[64]},"parts":["validation","test"],"protect":["sex"],"recipe":{"epochs":3,"rate":0.001},"seed":2,"sources":{}}','d0');
CREATE TABLE scores (
    run INTEGER NOT NULL, part TEXT NOT NULL, grouping TEXT NOT NULL,
    layout INTEGER NOT NULL REFERENCES texts, scores BLOB NOT NULL, PRIMARY KEY (run, part, grouping),
    FOREIGN KEY (run, part, grouping) REFERENCES measured ON DELETE CASCADE);
CREATE TABLE studies (
    number INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, spec TEXT NOT NULL, version TEXT NOT NULL,
    added TEXT NOT NULL, turn INTEGER NOT NULL);
INSERT INTO "studies" VALUES(1,'b57109a8e733daa7b697dec2e7fa2af0b4576abcf56817f9e3690ffc115ebf52','{"kind":"train","name":"small","seeds":[0,1]}','0.1.0','2026-11-15T23:24:50+00:00',1);
CREATE TABLE study_runs (
    study INTEGER NOT NULL REFERENCES studies, run INTEGER NOT NULL REFERENCES runs, place INTEGER NOT NULL,
    task TEXT NOT NULL, grouping TEXT NOT NULL, net TEXT NOT NULL, method TEXT NOT NULL,
    setting TEXT NOT NULL, PRIMARY KEY (study, run)) WITHOUT ROWID;
INSERT INTO "study_runs" VALUES(1,1,0,'adult','sex','mlp','erm','{}');
INSERT INTO "study_runs" VALUES(1,2,1,'adult','sex','mlp','erm','{}');
INSERT INTO "study_runs" VALUES(1,3,2,'adult','sex','mlp','erm','{}');
CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
INSERT INTO "texts" VALUES(1,'["Female","Male"]');
INSERT INTO "texts" VALUES(2,'["<=50K",">50K"]');
INSERT INTO "texts" VALUES(3,'{"arrays":[["cells","<u2","<i8",[3,2,2]]],"multilabel":false}');
INSERT INTO "texts" VALUES(4,'{"evenhand":"0.1.0","torch":"2.6"}');
INSERT INTO "texts" VALUES(5,'{}');
CREATE INDEX claims_of_owner ON claims (owner);
COMMIT;
