// Takes the pictures that make asks for. Its argument is a folder: page.html becomes page.png, and
// change.diff with annotations, the workflow commands for it, becomes annotations.png. Modules come
// from NODE_PATH.
'use strict';
const fs = require('fs');
const path = require('path');
const { chromium } = require('playwright-core');

const dir = process.argv[2];
const read = (name) => fs.readFileSync(path.join(dir, name), 'utf8');
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const escaped = (s) => s.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

// parsed reads workflow commands, as in ::error file=a.yaml,line=1,title=b::message.
function parsed(text) {
  const plain = (s) => s.replace(/%2C/g, ',').replace(/%3A/g, ':').replace(/%0A/g, '\n').replace(/%0D/g, '').replace(/%25/g, '%');
  return text.split('\n').map((l) => /^::(error|warning) (.*?)::(.*)$/.exec(l)).filter(Boolean).map((m) => ({
    level: m[1],
    message: plain(m[3]),
    ...Object.fromEntries(m[2].split(',').map((p) => p.split('=')).map(([k, v]) => [k, plain(v)])),
  }));
}

// changes lays a diff of one file out with the annotations below their lines.
function changes(diff, annotations) {
  const file = /^\+\+\+ b\/(.*)$/m.exec(diff)[1];
  const rows = [];
  let before = 0, after = 0, shown = 0;
  for (const line of diff.trimEnd().split('\n').slice(4)) {
    const hunk = /^@@ -(\d+)[^+]*\+(\d+).* @@/.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      rows.push(`<tr class="hunk"><td></td><td></td><td>${escaped(hunk[0])}</td></tr>`);
      continue;
    }
    const kind = { '+': 'added', '-': 'removed' }[line[0]] || '';
    rows.push(`<tr class="${kind}"><td>${kind === 'added' ? '' : before++}</td><td>${kind === 'removed' ? '' : after++}</td><td>${escaped(line)}</td></tr>`);
    if (kind === 'removed') continue;
    for (const a of annotations.filter((a) => a.file === file && Number(a.line) === after - 1)) {
      shown++;
      rows.push(`<tr class="note"><td colspan="3"><div class="${a.level}"><p><b>Check ${a.level === 'error' ? 'failure' : 'warning'}</b> on line ${a.line} in ${escaped(file)}</p>
        <h4>${escaped(a.title)}</h4><pre>${escaped(a.message)}</pre></div></td></tr>`);
    }
  }
  if (shown === 0 || shown !== annotations.length) throw new Error(`${shown} of ${annotations.length} annotations are on lines of the change`);
  return `<!DOCTYPE html><meta charset="utf-8"><style>
    body { margin: 0; padding: 10px; width: 880px; background: #fff; color: #1f2328; font: 14px/1.45 "DejaVu Sans", sans-serif; }
    section { border: 1px solid #d1d9e0; border-radius: 6px; overflow: hidden; }
    header { padding: 8px 12px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; font-weight: bold; }
    table { width: 100%; border-collapse: collapse; font: 13px/1.5 "DejaVu Sans Mono", monospace; }
    td { padding: 0 8px; white-space: pre; }
    td:nth-child(-n+2):not([colspan]) { width: 24px; text-align: right; color: #59636e; }
    .hunk td { background: #ddf4ff; color: #59636e; }
    .added td { background: #dafbe1; } .removed td { background: #ffebe9; }
    .note td { padding: 8px 12px; white-space: normal; background: #fff; border: solid #d1d9e0; border-width: 1px 0; font: 14px/1.45 "DejaVu Sans", sans-serif; }
    .note div { padding: 8px 14px; border: 1px solid #d1d9e0; border-left: 4px solid; border-radius: 6px; }
    .note .error { border-left-color: #cf222e; } .note .warning { border-left-color: #9a6700; }
    .error p b { color: #cf222e; } .warning p b { color: #9a6700; }
    p, h4 { margin: 0; } h4 { font-size: 14px; margin-top: 4px; }
    pre { margin: 4px 0 0; white-space: pre-wrap; font: 12.5px/1.45 "DejaVu Sans Mono", monospace; }
  </style><section><header>${escaped(file)}</header><table>${rows.join('\n')}</table></section>`;
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: flags });
  const open = async (width) => browser.newPage({ viewport: { width, height: 2000 }, colorScheme: 'light', deviceScaleFactor: 1.5 });

  let page = await open(1040); // wide enough for two runs side by side
  await page.goto('file://' + path.join(dir, 'page.html'));
  const player = await page.locator('#first').boundingBox(), board = await page.locator('.board').first().boundingBox();
  const top = player.y - 3, height = board.y + board.height + 10 - top;
  await page.screenshot({ path: path.join(dir, 'page.png'), fullPage: true, clip: { x: 0, y: top, width: 1040, height } });

  page = await open(900); // a page of its own, because the policy of the other one refuses styles
  await page.setContent(changes(read('change.diff'), parsed(read('annotations'))));
  await page.locator('body').screenshot({ path: path.join(dir, 'annotations.png') });
  await browser.close();
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
