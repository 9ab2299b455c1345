// Makes what the binary embeds of what Vite built: `node pack.mjs BUILT OUT`.
//
// Each file comes with its copy in brotli where that is smaller, `files.rs` names them for the
// server, and `manifest.json` tells their sizes.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const [built, out] = process.argv.slice(2);
/** Bytes in brotli: of all files, and of the script. */
const MOST = 200 * 1024;
const MOST_SCRIPT = 60 * 1024;
const KINDS = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, 'assets'), { recursive: true });
const names = readdirSync(join(built, 'assets')).sort();
const rows = [];
const manifest = {};
let total = 0;
for (const [name, path] of [['', 'index.html'], ...names.map(name => [name, `assets/${name}`])]) {
  const kind = KINDS[extname(path)];
  if (!kind) throw new Error(`${path}: no type is known for this: add it to KINDS`);
  const plain = readFileSync(join(built, path));
  const brotli = brotliCompressSync(plain, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
  });
  const isSmaller = extname(path) !== '.woff2' && brotli.length < plain.length;
  writeFileSync(join(out, path), plain);
  if (isSmaller) writeFileSync(join(out, `${path}.br`), brotli);
  const sent = isSmaller ? brotli.length : plain.length;
  if (extname(path) === '.js' && sent > MOST_SCRIPT) throw new Error(`${path}: ${sent} bytes of brotli, and ${MOST_SCRIPT} may be`);
  total += sent;
  manifest[path] = { bytes: plain.length, sent, sha256: createHash('sha256').update(plain).digest('hex') };
  const copy = isSmaller ? `Some(include_bytes!("${path}.br"))` : 'None';
  rows.push(
    `    PageFile {\n        name: "${name}",\n        kind: "${kind}",\n        plain: include_bytes!("${path}"),\n        brotli: ${copy},\n    },\n`,
  );
}
if (total > MOST) throw new Error(`the page has ${total} bytes in brotli, and ${MOST} may be`);
writeFileSync(join(out, 'third-party.txt'), readFileSync(join(built, 'third-party.txt')));
writeFileSync(join(out, 'manifest.json'), JSON.stringify({ sent: total, files: manifest }, null, 2) + '\n');
writeFileSync(join(out, 'files.rs'), `// Made by \`cargo xtask web\`.\nstatic FILES: &[PageFile] = &[\n${rows.join('')}];\n`);
console.log(`the page: ${total} bytes as sent, in ${rows.length} files`);
