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
  // A version that brought all the words of the current copy is found there, and has none of its own: most pages never change,
  // and had theirs twice. The list of what an index has yet to take in is read whole by each search, and its pages never go.
  `
  DROP INDEX versions_by_words;
  DROP INDEX current_by_words;
  ALTER TABLE current_words ADD COLUMN at bigint;
  UPDATE current_words SET at = versions.at FROM states JOIN versions ON versions.pk = states.pk AND number = version
    WHERE current_words.pk = states.pk;
  DELETE FROM current_words WHERE at IS NULL;
  ALTER TABLE current_words ALTER COLUMN at SET NOT NULL;
  UPDATE versions SET words = NULL FROM states WHERE states.pk = versions.pk AND number = 1 AND version = 1;
  CREATE INDEX versions_by_words ON versions USING gin (words) WITH (gin_pending_list_limit = 256);
  CREATE INDEX current_by_words ON current_words USING gin (words) WITH (gin_pending_list_limit = 256);
  `,
  // The last looks of a page stand in its state; sixteen of them become one row here (see look-packs.ts).
  `
  ALTER TABLE states ADD COLUMN recent_at bigint[] NOT NULL DEFAULT '{}', ADD COLUMN recent_what bigint[] NOT NULL DEFAULT '{}';
  ALTER TABLE looks RENAME TO single_looks;
  CREATE TABLE looks (
    pk bigint NOT NULL,
    upto bigint NOT NULL,
    at bigint[] NOT NULL,
    what bigint[] NOT NULL
  ) PARTITION BY HASH (pk);
  ${Array.from(
    { length: lookPartitions },
    (_, i) =>
      `CREATE TABLE look_packs_${i} PARTITION OF looks FOR VALUES WITH (MODULUS ${lookPartitions}, REMAINDER ${i});`,
  ).join('\n  ')}
  INSERT INTO looks (pk, upto, at, what)
    SELECT pk, max(at), array_agg(at ORDER BY at),
      array_agg((least(bytes, 4294967295) << 31) | (greatest(0, least(duration, 268435455))::bigint << 3) | kind ORDER BY at)
    FROM (SELECT *, (row_number() OVER (PARTITION BY pk ORDER BY at) - 1) / 16 AS pack FROM single_looks) AS numbered
    GROUP BY pk, pack ORDER BY pk, pack;
  DROP TABLE single_looks;
  CREATE INDEX looks_by_page ON looks (pk, upto);
  `,
  // Messages that have come to an end are found by when they did, and those of a subscription that is removed or read by it.
  `
  CREATE INDEX deliveries_settled ON deliveries (settled_at) WHERE settled_at IS NOT NULL;
  CREATE INDEX deliveries_by_subscription ON deliveries (subscription, n);
  CREATE INDEX deliveries_by_status ON deliveries (status, n);
  `,
  // Reading the settings of every page for its tags took longer than the search that asked for one.
  `
  ALTER TABLE pages ADD COLUMN tags jsonb GENERATED ALWAYS AS (settings::jsonb -> 'tags') STORED;
  CREATE INDEX pages_by_tag ON pages USING gin (tags);
  `,
  // One that has lost its link to the robots leaves its shards to those that have theirs.
  `
  ALTER TABLE coordinators ADD COLUMN linked boolean NOT NULL DEFAULT true;
  `,
  // How pages were last read for the pages that they list.
  `
  ALTER TABLE states ADD COLUMN revealed text;
  `,
  // Pages that somebody wants to be looked at, until a probe that left after that has its look kept (see wishes.ts).
  `
  CREATE TABLE wishes (
    pk bigint PRIMARY KEY REFERENCES pages (pk) ON DELETE CASCADE,
    at bigint NOT NULL,
    hurried boolean NOT NULL
  );
  `,
];
