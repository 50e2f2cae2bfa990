/**
 * What kind of thing a page is: by what its server says once it was seen, before that by how its name ends. Feeds change more often
 * than papers, wherever they are.
 */

/** Kept in stores by their places: only ever added to. */
export const contentKinds = [
  'unknown',
  'html',
  'feed',
  'json',
  'xml',
  'text',
  'table',
  'document',
  'script',
  'image',
  'archive',
  'sound',
] as const;

export type ContentKind = (typeof contentKinds)[number];

const byEnding = new Map<string, ContentKind>(
  Object.entries({
    html: 'html htm xhtml shtml php asp aspx jsp',
    feed: 'rss atom rdf',
    json: 'json geojson jsonl ndjson json5',
    xml: 'xml kml gpx xsd wsdl',
    text: 'txt md rst log adoc tex',
    table: 'csv tsv xls xlsx ods parquet',
    document: 'pdf doc docx odt ps epub rtf ppt pptx odp',
    script: 'js mjs cjs css ts wasm',
    image: 'png jpg jpeg gif webp svg avif ico bmp tif tiff',
    archive: 'zip gz tgz bz2 xz tar 7z rar dmg iso deb rpm apk exe msi jar',
    sound: 'mp3 mp4 ogg oga ogv opus wav flac webm mkv mov avi m4a m4v mpg mpeg',
  }).flatMap(([kind, endings]) => endings.split(' ').map((ending) => [ending, kind as ContentKind] as const)),
);

/** What comes before the path of a URL, and what is asked of it. */
const aroundPath = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*|[?#].*$/gis;

/** By the ending of a URL's path, or of any name with folders. */
export function kindOfName(name: string): ContentKind {
  const ending = /[^/]\.(\w+)$/.exec(name.replace(aroundPath, ''))?.[1];
  return (ending !== undefined && byEnding.get(ending.toLowerCase())) || 'unknown';
}

/** By the media type, in lower case without parameters. */
export function kindOfMediaType(type: string): ContentKind {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  if (/^application\/((rss|atom|rdf)\+xml|feed\+json)$/.test(type)) return 'feed';
  if (/[/+]json$/.test(type) || type.endsWith('json-seq')) return 'json';
  if (/^text\/(csv|tab-separated-values)$/.test(type) || /(spreadsheet|ms-excel)/.test(type)) return 'table';
  if (
    /^application\/(pdf|msword|epub\+zip|rtf|postscript)$/.test(type) ||
    /(wordprocessing|presentation|opendocument\.text)/.test(type)
  )
    return 'document';
  if (type.startsWith('image/')) return 'image';
  if (/^(audio|video)\//.test(type)) return 'sound';
  if (/[/+]xml$/.test(type)) return 'xml';
  if (/(javascript|ecmascript|text\/css|wasm)$/.test(type)) return 'script';
  if (
    /^application\/(zip|gzip|x-(tar|bzip2|xz|7z-compressed|rar-compressed|gzip)|vnd\.debian\.binary-package)$/.test(
      type,
    )
  )
    return 'archive';
  return type.startsWith('text/') ? 'text' : 'unknown';
}
