// SPDX-License-Identifier: MIT
//
// node build.js OUT: bundle src/ and its libraries into one file that needs no
// network.  `cstrace save x.html` puts the trace's data behind it.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    write: false,
    absWorkingDir: here,
  });
  return { text: result.outputFiles[0].text, files: Object.keys(result.metafile.inputs) };
}

// The licences of what went into the bundle, as they ask for.
function licences(files) {
  const packages = new Set();
  for (const file of files) {
    const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file);
    if (found) packages.add(found[1]);
  }
  return [...packages].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(here, folder, 'package.json')));
    return `${name} ${version}\n\n${readFileSync(join(here, folder, 'LICENSE'), 'utf8').trim()}\n`;
  }).join('\n');
}

const script = await bundle('main.js');
const style = await bundle('style.css');
const hash = createHash('sha256').update(script.text).digest('base64');
const parts = {
  // No script but this one ever runs, and nothing is fetched.
  POLICY: `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:`,
  LICENCES: licences(script.files).replace(/[\r\t]+/g, ' ').replaceAll('--', '- -'),
  STYLE: style.text,
  SCRIPT: script.text,
};
const page = readFileSync(join(here, 'src', 'page.html'), 'utf8');
writeFileSync(process.argv[2], page.replace(/@([A-Z]+)@/g, (_, name) => parts[name]));
