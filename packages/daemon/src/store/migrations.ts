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
    detect_state TEXT,
    validators_url TEXT
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
    id INTEGER PRIMARY KEY,
    pk INTEGER NOT NULL REFERENCES pages (pk) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    content BLOB NOT NULL,
    raw BLOB,
    format TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    UNIQUE (pk, number)
  );
  CREATE INDEX versions_by_content ON versions (content);
  CREATE INDEX versions_by_raw ON versions (raw) WHERE raw IS NOT NULL;

  CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    name BLOB NOT NULL UNIQUE,
    base BLOB,
    bytes INTEGER NOT NULL,
    packed BLOB NOT NULL
  );
  CREATE INDEX contents_by_base ON contents (base) WHERE base IS NOT NULL;

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
  `
  CREATE VIRTUAL TABLE current_words USING fts5 (
    title, body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  );
  CREATE VIRTUAL TABLE past_words USING fts5 (
    title, body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  );
  `,
  `
  CREATE TABLE subscriptions (
    id TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL,
    settings TEXT NOT NULL
  );

  CREATE TABLE deliveries (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    subscription TEXT NOT NULL REFERENCES subscriptions (id) ON DELETE CASCADE,
    lane TEXT NOT NULL,
    bundle TEXT,
    status TEXT NOT NULL,
    due INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    planned_at INTEGER NOT NULL,
    first_tried INTEGER,
    settled_at INTEGER,
    fault_code TEXT,
    fault_sentence TEXT
  );
  CREATE INDEX deliveries_waiting ON deliveries (due, n) WHERE status IN ('open', 'due');
  CREATE INDEX deliveries_in_order ON deliveries (subscription, lane, n) WHERE status IN ('open', 'due');
  CREATE INDEX deliveries_by_status ON deliveries (status, n);

  CREATE TABLE delivered_changes (
    delivery INTEGER NOT NULL REFERENCES deliveries (n) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (delivery, sequence)
  ) WITHOUT ROWID;
  `,
  // Messages that have come to an end are found by when they did, and those of a subscription that is removed or read by it.
  `
  CREATE INDEX deliveries_settled ON deliveries (settled_at) WHERE settled_at IS NOT NULL;
  CREATE INDEX deliveries_by_subscription ON deliveries (subscription, n);
  `,
  // A changed page takes its old words out. Segments are put together anew when two fifths of what they hold is gone, not a tenth:
  // under load, that was a sixth of all writing.
  `INSERT INTO current_words (current_words, rank) VALUES ('deletemerge', 40);`,
  // How pages were last read for the pages that they list.
  `ALTER TABLE states ADD COLUMN revealed TEXT;`,
  // Pages that somebody wants to be looked at, until a look at them is kept that was made after that (see wish-table.ts).
  `
  CREATE TABLE wishes (
    pk INTEGER PRIMARY KEY REFERENCES pages (pk) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    hurried INTEGER NOT NULL
  );
  `,
  // Pieces of the index are put together eight at a time, not four: what is written is put together again less often, and a search
  // has a few more pieces to look into (6 and 10 after 15 looks at each of 4,000 pages).
  `
  INSERT INTO current_words (current_words, rank) VALUES ('automerge', 8);
  INSERT INTO past_words (past_words, rank) VALUES ('automerge', 8);
  `,
];
