// Tests the pages of `place --format html` in Chromium. Arguments: the folder with the pages, and the
// folder for screenshots, which may be missing. Modules come from NODE_PATH.
'use strict';
const fs = require('fs');
const path = require('path');
const { chromium } = require('playwright-core');

const [dir, shots] = process.argv.slice(2);
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
let failed = 0;

function check(ok, what) {
  if (!ok) {
    failed++;
    console.log('FAIL ' + what);
  }
}

// opened is a page with everything recorded that must not happen.
async function opened(browser, name, colorScheme) {
  const context = await browser.newContext({ colorScheme, bypassCSP: false, viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(15000);
  page.bad = [];
  const file = 'file://' + path.join(dir, name + '.html');
  await page.route('**/*', (route) => {
    const url = route.request().url();
    if (url !== file && !url.startsWith('data:')) page.bad.push('request ' + url);
    return route.continue();
  });
  page.on('pageerror', (e) => page.bad.push('error ' + e.message));
  page.on('console', (m) => { if (m.type() === 'error') page.bad.push('console ' + m.text()); });
  page.on('dialog', (d) => { page.bad.push('dialog ' + d.message()); d.dismiss(); });
  await page.goto(file);
  return page;
}

async function closed(page, name) {
  check(page.bad.length === 0, name + ': ' + page.bad.join('; '));
  await page.context().close();
}

// timed runs an action in the page and returns the time until the next frame is due.
const timed = (page, action) => page.evaluate((src) => new Promise((done) => {
  const began = performance.now();
  new Function(src)();
  document.body.offsetHeight; // lays the page out
  requestAnimationFrame(() => done(performance.now() - began));
}), action);

const focused = (page) => page.evaluate(() => document.activeElement.textContent);
const sentence = (page) => page.textContent('#sentence');

// accessible checks a page with axe-core.
async function accessible(page, name) {
  const began = Date.now();
  await page.evaluate(axe + '\n;0'); // runs outside the page's policy, as the debugger does
  const found = await page.evaluate(async () => (await window.axe.run(document, { preload: false, resultTypes: ['violations'] })).violations.map((v) => ({ id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)) })));
  for (const v of found) {
    if (v.impact === 'serious' || v.impact === 'critical') check(false, name + ': ' + JSON.stringify(v));
    else console.log(name + ': axe ' + v.impact + ' ' + v.id);
  }
  console.log(`${name}: axe took ${Date.now() - began} ms`);
}

async function stepping(browser) {
  const page = await opened(browser, 'stuck', 'light');
  check(await page.locator('.board').count() === 2, 'the run that gets stuck is beside the one that does not');
  check(/1 pod Pending/.test(await sentence(page)), 'the last step says what is Pending: ' + await sentence(page));
  check(/NodeAffinity refuses it on 2 nodes: plain-0, plain-1/.test(await page.textContent('.tray')), 'the tray names filters and nodes');
  await page.click('#first');
  check(/^Start/.test(await sentence(page)) && await page.locator('.cell').count() === 0, 'the start has no pods');
  check(await focused(page) === 'First', 'a button that does nothing more keeps the focus');
  check(await page.isDisabled('#back') && !(await page.isDisabled('#next')), 'buttons at the start');
  await page.click('#next');
  check(/^Step 1 of 2/.test(await sentence(page)) && await page.locator('.board:first-child .cell').count() === 1, 'one step places one pod');
  check(await page.locator('.board:first-child .node.moved').count() === 1, 'the step marks its node');
  await page.locator('h1').click();
  await page.keyboard.press('ArrowRight');
  check(/^Step 2 of 2/.test(await sentence(page)), 'the right arrow steps');
  await page.keyboard.press('ArrowLeft');
  check(/^Step 1 of 2/.test(await sentence(page)), 'the left arrow steps back');
  await page.keyboard.press('Home');
  check(/^Start/.test(await sentence(page)), 'Home');
  await page.keyboard.press('End');
  check(/1 pod Pending/.test(await sentence(page)), 'End');
  await page.focus('#slider');
  await page.keyboard.press('ArrowLeft');
  check(/^Step 2 of 2.*Step 2 of 3/.test(await sentence(page)), 'the slider steps by key: ' + await sentence(page));
  await page.click('#first');
  await page.click('#play');
  await page.waitForFunction(() => document.getElementById('next').getAttribute('aria-disabled') === 'true', null, { timeout: 10000 });
  check(await page.textContent('#play') === 'Play', 'play stops at the end');

  await page.fill('#search', 'NOISY');
  check(await page.locator('#rows tr').count() === 1 && /1 workload/.test(await page.textContent('#found')), 'search');
  await page.fill('#search', '');
  await page.selectOption('#filter', 'other');
  check(/shop\/db/.test(await page.textContent('#rows')) && !/noisy/.test(await page.textContent('#rows')), 'filter by answer');
  await page.selectOption('#filter', 'pending');
  check(/shop\/db/.test(await page.textContent('#rows')) && await page.locator('#rows tr').count() === 1, 'filter by Pending');
  await page.selectOption('#filter', 'all');
  await page.locator('#rows button', { hasText: 'noisy' }).focus();
  await page.keyboard.press('Enter');
  check(await page.locator('.cell.sel').count() === 4 && await page.locator('.has-sel').count() === 2, 'selecting a workload marks its pods on both grids');
  check(/shop\/noisy/.test(await page.textContent('#detail')), 'the selected workload has its answers');
  check(/shop\/noisy/.test(await focused(page)), 'selecting a row keeps the focus: ' + await focused(page));
  await page.locator('#runs button').nth(2).click();
  await page.waitForTimeout(100);
  const marked = await page.locator('.cell.sel').count();
  check(marked > 0, 'the selection outlasts another run');
  for (let i = 0; i < 2; i++) {
    await page.locator('.zone summary').last().click();
    await page.waitForTimeout(100);
  }
  check(await page.locator('.cell.sel').count() === marked, 'the selection outlasts closing and opening a pool');
  await page.locator('#runs button').nth(1).click();
  await page.locator('.zone .pods button', { hasText: 'noisy' }).first().focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowRight');
  check(/noisy/.test(await focused(page)), 'stepping keeps the focus on a pod');
  await page.click('#detail button');
  check(await page.isHidden('#detail') && await page.evaluate(() => document.activeElement.id) === 'search', 'clearing the selection moves the focus');
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: 700, height: 900 });
  check(await page.isVisible('#found') && await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'print says how many workloads there are and cuts nothing off');
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  check(await page.locator('.static details:not([open])').count() === 0, 'print opens the reasons and notes');
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  check(await page.locator('.static details[open]').count() === 0, 'after printing they are closed again');
  await page.emulateMedia({ media: 'screen' });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.locator('.pods button').first().click();
  check(await page.locator('.has-sel').count() === 0 || await page.locator('tr.sel').count() === 1, 'the grid selects a workload');
  await closed(page, 'stuck');
}

// runs opens every run and compares the pods of the last step with the data.
async function runs(browser, name, want) {
  const page = await opened(browser, name, 'light');
  const titles = await page.locator('#runs button').allTextContents();
  for (const w of want) check(titles.some((t) => w.test(t)), name + ': no run ' + w + ' in ' + titles.join(' | '));
  for (let i = 0; i < titles.length; i++) {
    await page.locator('#runs button').nth(i).click();
    await page.selectOption('#beside', '-1');
    const [shown, due] = await page.evaluate((k) => {
      const data = JSON.parse(document.getElementById('data').textContent).contexts[0].picture, run = data.runs[k];
      let due = data.running.length / 2;
      for (const events of [run.after >= 0 ? data.runs[run.after].events : [], run.events]) {
        for (let e = 0; e < events.length; e += 4) due += events[e] === 0 ? events[e + 3] : events[e] === 1 ? -events[e + 3] : 0;
      }
      let shown = 0;
      for (const li of document.querySelectorAll('.pods li')) shown += parseInt(li.textContent.match(/(\d+) x /)[1], 10);
      return [shown, due];
    }, i);
    check(shown === due, `${name}: ${titles[i]}: ${shown} pods are shown, not ${due}`);
  }
  if (name === 'rollout') {
    await page.locator('#runs button', { hasText: 'Rollout' }).click();
    check(/NodeResourcesFit refuses it on 2 nodes: /.test(await page.textContent('.tray')), 'the tray of a rollout names filters and nodes: ' + await page.textContent('.tray'));
  }
  await closed(page, name);
}

// backAndForth steps through every run by one step and by jumps, and compares what it shows with what
// it showed at the same step before.
async function backAndForth(browser, name) {
  const page = await opened(browser, name, 'light');
  const differ = await page.evaluate(() => {
    const slider = document.getElementById('slider'), all = [];
    const at = (k) => {
      slider.value = k;
      slider.dispatchEvent(new Event('input'));
      return document.getElementById('boards').innerHTML + document.getElementById('sentence').textContent;
    };
    document.querySelectorAll('#runs button').forEach((run, i) => {
      run.click();
      const last = Number(slider.max), seen = [];
      for (let k = 0; k <= last; k++) seen.push(at(k));
      for (let k = last; k >= 0; k--) if (at(k) !== seen[k]) all.push(`run ${i} step ${k}`);
      for (let k = 0; k <= last; k++) {
        const to = (k * 7) % (last + 1);
        if (at(to) !== seen[to]) all.push(`run ${i} jump to ${to}`);
      }
    });
    return all;
  });
  check(differ.length === 0, name + ': stepping back and forth differs: ' + differ.slice(0, 5).join(', '));
  await closed(page, name);
}

// unknowns opens a page of a cluster whose zones are not all known, whose pools can grow, and some of
// whose nodes declare no resources.
async function unknowns(browser) {
  const page = await opened(browser, 'unknowns', 'light');
  check(await page.isHidden('#detail'), 'no workload is selected at first');
  const zones = await page.locator('.zone h4').allTextContents();
  check(zones.includes('zone not known') && !zones.includes('no zone'), 'zones that are not known: ' + zones.join(', '));
  const titles = await page.locator('#runs button').allTextContents();
  check(titles.length > 1 && !titles.some((t) => /zone/.test(t)), 'a run claims something about zones that are not known: ' + titles.join(' | '));
  const left = await page.textContent('#left');
  check(/1 workload not modeled/.test(left) && /nodes that 2 pools may add are in no run: burst, worker/.test(left), 'what the runs leave out: ' + left);
  check(/Whether the pods fit in every order is not known/.test(await page.textContent('.board')), 'a run of an unknown verdict is an example');
  check(!/no pod Pending/.test(await page.textContent('body')), 'a run of an unknown verdict claims that no pod is Pending');
  check(/not to scale\. .*Not declared: cpu, memory/.test(await page.textContent('.boards')), 'a node that declares nothing');
  await page.locator('#rows button', { hasText: 'CronJob' }).click();
  check(/No run has pods of it/.test(await page.textContent('#detail')), 'a workload without pods in the runs: ' + await page.textContent('#detail'));
  await closed(page, 'unknowns');
}

// contexts chooses between the contexts of a page.
async function contexts(browser) {
  const page = await opened(browser, 'contexts', 'light');
  const replicas = async () => (await page.locator('#rows tr').first().textContent()).match(/web(\d)/)[1];
  check(await page.isVisible('#context') && await page.locator('#context option').count() === 2, 'a page of two contexts offers both');
  const first = await replicas();
  await page.selectOption('#context', '1');
  check(first + await replicas() === '32', 'choosing a context changes the table');
  await closed(page, 'contexts');
}

async function hostile(browser) {
  const page = await opened(browser, 'hostile', 'light');
  check(await page.evaluate(() => window.hacked === undefined), 'a name ran as script');
  check(await page.locator('#app img, #app script, #app iframe, .static img, .static script').count() === 0, 'a name became an element');
  check(/<img/.test(await page.textContent('body')), 'the hostile name is not shown as text');
  check(!/[\u202a-\u202e\u2066-\u2069]/.test(await page.textContent('body')), 'a name has hidden direction marks');
  check(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'a long name widens the page');
  await closed(page, 'hostile');
}

async function large(browser) {
  const bytes = fs.statSync(path.join(dir, 'large.html')).size;
  check(bytes <= 5_000_000, `the page of 5,000 nodes has ${bytes} bytes`);
  const page = await opened(browser, 'large', 'light');
  await page.waitForTimeout(500);
  // The time of the page's main thread on a core, so that other work on the machine does not count.
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => (await session.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value * 1000;
  const actions = {
    'back': 'document.getElementById("back").click()',
    'first': 'document.getElementById("first").click()',
    'middle': 'const s = document.getElementById("slider"); s.value = Math.floor(s.max / 2); s.dispatchEvent(new Event("input"))',
    'open': 'const d = document.querySelector(".zone details:not([open]) summary"); d.click()',
    'next': 'document.getElementById("next").click()',
    'open all': 'document.querySelectorAll(".zone details:not([open]) summary").forEach((s) => s.click())',
    'step': 'document.getElementById("back").click()',
    'jump': 'const s = document.getElementById("slider"); s.value = Math.floor(s.max / 3); s.dispatchEvent(new Event("input"))',
    'more': 'document.querySelector(".zone details > div > button").click()',
    'fullest': 'document.querySelector(".board p button").click()',
    'key': 'document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }))',
    'last': 'document.getElementById("last").click()',
    'search': 'const s = document.getElementById("search"); s.value = "app-001"; s.dispatchEvent(new Event("input"))',
    'unsearch': 'const s = document.getElementById("search"); s.value = ""; s.dispatchEvent(new Event("input"))',
    'filter': 'const s = document.getElementById("filter"); s.value = "other"; s.dispatchEvent(new Event("change"))',
    'select': 'document.querySelector("#rows button").click()',
    'run': 'document.querySelector("#runs button").click()',
  };
  let slowest = 0, longest = 0;
  for (const [name, action] of Object.entries(actions)) {
    const times = []; // the least of three counts, because other work on the machine only adds to it
    for (let i = 0; i < 3; i++) {
      const began = await busy();
      times.push(await timed(page, action));
      await page.waitForTimeout(100); // until later frames are drawn
      const tasks = await busy() - began;
      longest = Math.max(longest, tasks);
      check(tasks <= 200, `large: ${name} keeps the page busy for ${tasks.toFixed(0)} ms`);
    }
    const best = Math.min(...times);
    slowest = Math.max(slowest, best);
    console.log(`large: ${name} ${best.toFixed(0)} ms, at first ${times[0].toFixed(0)} ms`);
    check(best <= 100, `large: ${name} takes ${best.toFixed(0)} ms`);
  }
  console.log(`large: ${bytes} bytes, slowest input ${slowest.toFixed(0)} ms, most work for one ${longest.toFixed(0)} ms`);
  await closed(page, 'large');
}

async function withoutScript(browser) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto('file://' + path.join(dir, 'stuck.html'));
  const text = await page.innerText('main');
  check(/verdict:\s*sometimes/.test(text) && /shop\/db/.test(text) && /0 to 1 of 1/.test(text), 'without scripts the page lists the answers: ' + text);
  await context.close();
}

(async () => {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });
  await stepping(browser);
  await runs(browser, 'demo', [/^A placement of all pods$/, /^Drain of node/, /^Loss of zone north/]);
  await runs(browser, 'rollout', [/^Rollout of Deployment shop\/web gets stuck$/]);
  await runs(browser, 'zone', [/^Loss of zone . \(unreachable\) leaves 3 pods/, /^Loss of zone . \(gone\): in one order, all evicted pods run again$/]);
  await runs(browser, 'hostile', [/./]);
  for (const name of ['stuck', 'demo', 'rollout', 'zone']) await backAndForth(browser, name);
  await unknowns(browser);
  await contexts(browser);
  await hostile(browser);
  await large(browser);
  await withoutScript(browser);
  for (const scheme of ['light', 'dark']) {
    for (const name of ['stuck', 'demo', 'rollout', 'zone', 'hostile', 'unknowns', 'large']) {
      const page = await opened(browser, name, scheme);
      if (shots) await page.screenshot({ path: path.join(shots, `${name}-${scheme}.png`), fullPage: name !== 'large' });
      if (name === 'large') await page.locator('.zone summary').first().click();
      await accessible(page, name + ' ' + scheme);
      await page.context().close();
    }
  }
  await browser.close();
  if (failed) process.exit(1);
  console.log('the pages work in Chromium');
})().catch((e) => { console.error(e); process.exit(1); });
