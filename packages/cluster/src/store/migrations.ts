/**
 * The schema on PostgreSQL (13 or later), as steps that are only ever added to; `schema_steps` counts the steps taken. All
 * statements are scoped to a transaction, so that a pooler may stand in between. What grows without end (looks) is
 * partitioned by page, so that each index stays small enough to live in memory where it is hot.
 */
const lookPartitions = 16;

export const migrations: readonly string[] = [
  `
  CREATE TABLE pages (
    pk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    url text NOT NULL,
    selection text NOT NULL,
    site text NOT NULL,
    shard smallint NOT NULL,
    settings text NOT NULL,
    added_at bigint NOT NULL
  );
  -- URLs may be longer than an index entry can hold.
  CREATE UNIQUE INDEX pages_by_what ON pages (md5(url || E'\\n' || selection));
  CREATE INDEX pages_by_site ON pages (site);
  CREATE INDEX pages_by_shard ON pages (shard, pk);

  CREATE TABLE states (
    pk bigint PRIMARY KEY REFERENCES pages (pk) ON DELETE CASCADE,
    status text NOT NULL,
    version integer NOT NULL,
    told_version integer NOT NULL,
    hash text,
    etag text,
    last_modified text,
    last_look bigint,
    last_seen bigint,
    last_change bigint,
    fault_code text,
    fault_sentence text,
    failures integer NOT NULL,
    looks integer NOT NULL,
    changes integer NOT NULL,
    moved_to text,
    seen_title text,
    model bytea,
    detect_state text,
    validators_url text
  ) WITH (fillfactor = 70);

  CREATE TABLE looks (
    pk bigint NOT NULL,
    at bigint NOT NULL,
    kind smallint NOT NULL,
    duration integer NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (pk, at)
  ) PARTITION BY HASH (pk);
  ${Array.from(
    { length: lookPartitions },
    (_, i) => `CREATE TABLE looks_${i} PARTITION OF looks FOR VALUES WITH (MODULUS ${lookPartitions}, REMAINDER ${i});`,
  ).join('\n  ')}

  CREATE TABLE versions (
    pk bigint NOT NULL REFERENCES pages (pk) ON DELETE CASCADE,
    number integer NOT NULL,
    at bigint NOT NULL,
    content bytea NOT NULL,
    raw bytea,
    format text NOT NULL,
    bytes integer NOT NULL,
    title text,
    words tsvector,
    PRIMARY KEY (pk, number)
  );
  CREATE INDEX versions_by_words ON versions USING gin (words);

  CREATE TABLE contents (
    name bytea PRIMARY KEY,
    base bytea,
    bytes integer NOT NULL,
    packed bytea NOT NULL
  );
  ALTER TABLE contents ALTER COLUMN packed SET STORAGE EXTERNAL;

  CREATE TABLE current_words (
    pk bigint PRIMARY KEY REFERENCES pages (pk) ON DELETE CASCADE,
    words tsvector NOT NULL
  );
  CREATE INDEX current_by_words ON current_words USING gin (words);

  CREATE TABLE changes (
    sequence bigint PRIMARY KEY,
    id text NOT NULL UNIQUE,
    page_id text NOT NULL,
    at bigint NOT NULL,
    entry text NOT NULL
  );
  CREATE INDEX changes_by_page ON changes (page_id, sequence);
  -- One row that whoever appends to the log locks until it commits: sequences have no holes and appear in order.
  CREATE TABLE log_end (single boolean PRIMARY KEY DEFAULT true CHECK (single), sequence bigint NOT NULL);
  INSERT INTO log_end (sequence) VALUES (0);

  CREATE TABLE in_flight (
    id text PRIMARY KEY,
    shard smallint NOT NULL,
    at bigint NOT NULL,
    probe text NOT NULL
  );

  CREATE TABLE memory (
    key text PRIMARY KEY,
    value bytea NOT NULL
  );

  CREATE TABLE subscriptions (
    id text PRIMARY KEY,
    created_at bigint NOT NULL,
    settings text NOT NULL
  );

  CREATE TABLE deliveries (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    subscription text NOT NULL REFERENCES subscriptions (id) ON DELETE CASCADE,
    lane text NOT NULL,
    bundle text,
    status text NOT NULL,
    due bigint NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    planned_at bigint NOT NULL,
    first_tried bigint,
    settled_at bigint,
    fault_code text,
    fault_sentence text
  );
  CREATE INDEX deliveries_waiting ON deliveries (due, n) WHERE status IN ('open', 'due');
  CREATE INDEX deliveries_in_order ON deliveries (subscription, lane, n) WHERE status IN ('open', 'due');

  CREATE TABLE delivered_changes (
    delivery bigint NOT NULL REFERENCES deliveries (n) ON DELETE CASCADE,
    sequence bigint NOT NULL,
    PRIMARY KEY (delivery, sequence)
  );

  -- Who holds which shard. Times are the server's own, so that nobody's clock matters.
  CREATE TABLE leases (
    shard smallint PRIMARY KEY,
    holder text NOT NULL,
    until timestamptz NOT NULL
  );
  -- Who is there, and how much of the budget each could use.
  CREATE TABLE coordinators (
    holder text PRIMARY KEY,
    demand double precision NOT NULL,
    until timestamptz NOT NULL
  );
  `,
  // What nothing needs any more is found by who has it.
  `
  CREATE INDEX versions_by_content ON versions (content);
  CREATE INDEX versions_by_raw ON versions (raw) WHERE raw IS NOT NULL;
  CREATE INDEX contents_by_base ON contents (base) WHERE base IS NOT NULL;
  `,
];
