/**
 * The schema, as steps that are only ever added to. `user_version` counts the steps taken; each runs in its own
 * transaction. The columns of a step are never changed once it has been released.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE pages (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    selection TEXT NOT NULL,
    site TEXT NOT NULL,
    settings TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    UNIQUE (url, selection)
  );
  CREATE INDEX pages_by_site ON pages (site);

  CREATE TABLE states (
    pk INTEGER PRIMARY KEY REFERENCES pages (pk) ON DELETE CASCADE,
    status TEXT NOT NULL,
    version INTEGER NOT NULL,
    told_version INTEGER NOT NULL,
    hash TEXT,
    etag TEXT,
    last_modified TEXT,
    last_look INTEGER,
    last_seen INTEGER,
    last_change INTEGER,
    fault_code TEXT,
    fault_sentence TEXT,
    failures INTEGER NOT NULL,
    looks INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    moved_to TEXT,
    seen_title TEXT,
    model BLOB,
    detect_state TEXT
  );

  CREATE TABLE looks (
    pk INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (pk, at)
  ) WITHOUT ROWID;

  CREATE TABLE versions (
    pk INTEGER NOT NULL REFERENCES pages (pk) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    hash TEXT NOT NULL,
    format TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    base INTEGER,
    content BLOB NOT NULL,
    PRIMARY KEY (pk, number)
  ) WITHOUT ROWID;

  CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    page_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    entry TEXT NOT NULL
  );
  CREATE INDEX changes_by_page ON changes (page_id, sequence);

  CREATE TABLE in_flight (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    probe TEXT NOT NULL
  ) WITHOUT ROWID;

  CREATE TABLE memory (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL
  ) WITHOUT ROWID;
  `,
];
