'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const S = data.strings;
  const PLACE = 0, REMOVE = 1, LOSE = 2; // as in page.go
  const FOLD = 8;                        // more nodes of a zone and pool fold by their pods
  const OPEN = 200;                      // with more nodes, pools start closed
  const PAGE = 8, ROWS = 100, CELLS = 24;
  const $ = (id) => document.getElementById(id);

  // el makes an element. Text becomes a text node, so no name is ever markup.
  function el(tag, attrs, ...kids) {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attrs || {})) {
      if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
      else if (v === true) e.setAttribute(k, '');
      else if (v !== false && v !== undefined) e.setAttribute(k, v);
    }
    e.append(...kids.filter((k) => k !== null && k !== undefined && k !== ''));
    return e;
  }
  const count = (n, thing) => n + ' ' + thing + (n === 1 ? '' : 's');
  const tag = (i) => (i >= 26 ? tag(Math.floor(i / 26) - 1) : '') + String.fromCharCode(65 + (i % 26));

  function amount(name, v) {
    if (name === 'cpu') return v % 1000 === 0 ? String(v / 1000) : v + 'm';
    if (name === 'memory' || name.includes('storage') || name.startsWith('hugepages')) {
      for (const [unit, size] of [['Ti', 2 ** 40], ['Gi', 2 ** 30], ['Mi', 2 ** 20], ['Ki', 2 ** 10]]) {
        if (v >= size) return (v % size === 0 ? v / size : (v / size).toFixed(1)) + unit;
      }
    }
    return String(v);
  }

  // ranges turns [first, length, ...] into the numbers.
  function ranges(list) {
    const all = [];
    for (let i = 0; i < list.length; i += 2) for (let k = 0; k < list[i + 1]; k++) all.push(list[i] + k);
    return all;
  }

  // some returns the first numbers of such a list, and how many numbers it has.
  function some(list, most) {
    const first = [];
    let size = 0;
    for (let i = 0; i < list.length; i += 2) {
      for (let k = 0; k < list[i + 1] && first.length < most; k++) first.push(list[i] + k);
      size += list[i + 1];
    }
    return [first, size];
  }

  // picture unpacks the nodes and workloads of a context.
  function picture(p) {
    const R = p.resources.length, nodes = [], workloads = [];
    for (let i = 0; i < p.nodes.length; i += 5 + R) {
      const [name, zone, pool, flags, taints] = p.nodes.slice(i, i + 5);
      nodes.push({ name: S[name], zone: S[zone], pool: S[pool], cordoned: (flags & 1) > 0, planned: (flags & 2) > 0, taints: S[taints], has: p.nodes.slice(i + 5, i + 5 + R) });
    }
    for (let i = 0; i < p.workloads.length; i += 2 + R) {
      const fresh = p.workloads[i + 1] > 0;
      workloads.push({ name: S[p.workloads[i]] + (fresh ? ', new pods' : ''), of: p.workloads[i], wants: p.workloads.slice(i + 2, i + 2 + R) });
    }
    return { resources: p.resources.map((r) => S[r]), nodes, workloads, running: p.running, runs: p.runs };
  }

  // Board shows one run. It keeps the pods of every node and changes only what a step changes.
  class Board {
    constructor(pic, index) {
      this.pic = pic;
      this.run = pic.runs[index];
      this.ops = []; this.ws = []; this.ns = [];
      const base = this.run.after >= 0 ? pic.runs[this.run.after].events : [];
      this.unpack(base);
      this.begin = this.ops.length;
      this.unpack(this.run.events);
      this.lost = new Set(ranges(this.run.lost));
      this.pods = pic.nodes.map(() => new Map());
      this.struck = false;
      this.moved = [];
      this.listed = PAGE; // workloads in the tray
      this.at = 0;
      this.placed = 0;
      for (let i = 0; i < pic.running.length; i += 2) this.add(pic.running[i], pic.running[i + 1], 1);
      this.sections = [];
      this.bySection = new Map();
      this.build();
      this.seek(this.begin);
    }

    unpack(list) {
      for (let i = 0; i < list.length; i += 4) {
        for (let k = 0; k < list[i + 3]; k++) { this.ops.push(list[i]); this.ws.push(list[i + 1]); this.ns.push(list[i + 2]); }
      }
    }

    get steps() { return this.ops.length; }

    add(w, n, by) {
      const pods = this.pods[n], now = (pods.get(w) || 0) + by;
      if (now > 0) pods.set(w, now); else pods.delete(w);
      this.placed += by;
    }

    // seek goes to the state after the first k steps.
    seek(k) {
      k = Math.max(0, Math.min(k, this.steps));
      const dirty = new Set(this.moved);
      while (this.at !== k) {
        const back = this.at > k, i = back ? this.at - 1 : this.at;
        this.at += back ? -1 : 1;
        if (this.ops[i] === LOSE) {
          this.struck = !back;
          for (const n of this.lost) dirty.add(n);
        } else {
          this.add(this.ws[i], this.ns[i], (this.ops[i] === PLACE) === !back ? 1 : -1);
          dirty.add(this.ns[i]);
        }
      }
      this.moved = this.at > 0 && this.ops[this.at - 1] !== LOSE ? [this.ns[this.at - 1]] : [];
      for (const n of this.moved) dirty.add(n);
      const sections = new Set();
      for (const n of dirty) sections.add(this.bySection.get(n));
      for (const s of sections) this.draw(s);
      this.drawTray();
    }

    sentence() {
      const i = this.at - 1, where = 'Step ' + this.at + ' of ' + this.steps + ': ';
      if (i < 0) return 'Start: ' + count(this.steps, 'step') + ', no pod is placed yet.';
      let text = where;
      if (this.ops[i] === LOSE) {
        const names = [...this.lost].map((n) => this.pic.nodes[n].name), what = { drained: 'drained', unreachable: 'unreachable', gone: 'deleted' }[this.run.meaning];
        text += (names.length > 3 ? count(names.length, 'node') + ' are' : names.join(', ') + (names.length > 1 ? ' are' : ' is')) + ' ' + what + '.';
      } else {
        const name = this.pic.workloads[this.ws[i]].name, node = this.pic.nodes[this.ns[i]].name;
        text += this.ops[i] === PLACE ? 'a pod of ' + name + ' is placed on ' + node + '.' : 'a pod of ' + name + ' leaves ' + node + '.';
      }
      if (this.at === this.steps) {
        const left = this.run.pending.reduce((sum, p) => sum + p.count, 0);
        text += left > 0 ? ' The run ends with ' + count(left, 'pod') + ' Pending.' : ' The run ends with no pod Pending.';
      }
      return text;
    }

    build() {
      const zones = new Map();
      this.pic.nodes.forEach((n, i) => {
        if (!zones.has(n.zone)) zones.set(n.zone, new Map());
        const pools = zones.get(n.zone);
        if (!pools.has(n.pool)) pools.set(n.pool, { zone: n.zone, pool: n.pool, nodes: [], shown: PAGE, open: new Map() });
        pools.get(n.pool).nodes.push(i);
      });
      this.zones = el('div', { class: 'zones' });
      const names = [...zones.keys()].sort();
      for (const zone of names) {
        const box = el('section', { class: 'zone' }, el('h4', {}, zone === '' ? (names.length > 1 ? 'no zone' : 'nodes') : 'zone ' + zone));
        for (const name of [...zones.get(zone).keys()].sort()) {
          const s = zones.get(zone).get(name);
          s.summary = el('summary');
          s.body = el('div');
          s.details = el('details', { open: this.pic.nodes.length <= OPEN }, s.summary, s.body);
          s.details.addEventListener('toggle', () => this.draw(s));
          for (const n of s.nodes) this.bySection.set(n, s);
          this.sections.push(s);
          box.append(s.details);
        }
        this.zones.append(box);
      }
      this.tray = el('section', { class: 'tray' });
      this.root = el('section', { class: 'board' }, el('h3', {}, S[this.run.title]),
        this.run.note ? el('p', { class: 'soft' }, S[this.run.note]) : null,
        this.run.after < 0 && /rollout|drain|loss/.test(this.run.question) ? el('p', { class: 'soft' }, 'This run places only the workloads that compete for the same nodes or that rules connect. Free room does not count the others.') : null, this.zones, this.tray);
      for (const s of this.sections) this.draw(s);
    }

    // draw renders the nodes of a zone and pool if they are open.
    draw(s) {
      let pods = 0, out = 0;
      for (const n of s.nodes) {
        for (const k of this.pods[n].values()) pods += k;
        if (this.struck && this.lost.has(n)) out++;
      }
      const text = (s.pool === '' ? '' : 'pool ' + s.pool + ': ') + count(s.nodes.length, 'node') + ', ' + count(pods, 'pod') + (out ? ', ' + out + ' ' + this.fate() : '');
      if (s.summary.textContent !== text) s.summary.textContent = text;
      if (!s.details.open) return;
      const classes = new Map();
      for (const n of s.nodes) {
        const key = s.nodes.length <= FOLD ? n : this.signature(n);
        if (classes.has(key)) classes.get(key).push(n); else classes.set(key, [n]);
      }
      const cards = [], list = [...classes.entries()];
      for (const [key, nodes] of list.slice(0, s.shown)) {
        cards.push(this.card(nodes));
        if (nodes.length > 1) cards.push(...this.members(s, key, nodes));
      }
      if (list.length > s.shown) {
        cards.push(el('button', { type: 'button', onclick: () => { s.shown += PAGE; this.draw(s); mark(); } }, 'Show ' + Math.min(PAGE, list.length - s.shown) + ' more of ' + (list.length - s.shown) + ' groups of nodes'));
      }
      s.body.replaceChildren(...cards);
    }

    // members lists the nodes of a folded group on demand.
    members(s, key, nodes) {
      const shown = s.open.get(key) || 0;
      const toggle = el('button', { type: 'button', 'aria-expanded': shown > 0 ? 'true' : 'false', onclick: () => { s.open.set(key, shown ? 0 : PAGE); this.draw(s); mark(); } },
        shown ? 'Fold these ' + nodes.length + ' nodes' : 'Show these ' + nodes.length + ' nodes');
      const all = [toggle];
      for (const n of nodes.slice(0, shown)) all.push(this.card([n]));
      if (shown > 0 && nodes.length > shown) {
        all.push(el('button', { type: 'button', onclick: () => { s.open.set(key, shown + PAGE); this.draw(s); mark(); } }, 'Show ' + Math.min(PAGE, nodes.length - shown) + ' more of ' + (nodes.length - shown) + ' nodes'));
      }
      return all;
    }

    signature(n) {
      const node = this.pic.nodes[n];
      const pods = [...this.pods[n].entries()].sort((a, b) => a[0] - b[0]).join(';');
      return [pods, this.moved.includes(n) ? n : '', this.struck && this.lost.has(n), node.cordoned, node.planned, node.taints].join('|');
    }

    fate() { return { drained: 'drained', unreachable: 'unreachable', gone: 'deleted' }[this.run.meaning] || 'lost'; }

    used(n) {
      const sum = this.pic.resources.map(() => 0);
      for (const [w, k] of this.pods[n]) this.pic.workloads[w].wants.forEach((v, r) => { sum[r] += v * k; });
      return sum;
    }

    // card shows a node, or the first of several with the same pods.
    card(nodes) {
      const { resources, workloads } = this.pic, n = nodes[0], node = this.pic.nodes[n];
      const used = this.used(n);
      let bind = -1, most = -1;
      used.forEach((v, r) => {
        if (node.has[r] > 0 && v / node.has[r] > most) { most = v / node.has[r]; bind = r; }
      });
      const out = this.struck && this.lost.has(n), moved = nodes.length === 1 && this.moved.includes(n);
      const flags = [];
      if (out) flags.push(this.fate());
      if (node.cordoned) flags.push('cordoned');
      if (node.planned) flags.push('does not exist yet');
      if (node.taints) flags.push('taint ' + node.taints);
      const cells = el('div', { class: 'cells', 'aria-hidden': 'true' }), list = el('ul', { class: 'pods' });
      const total = [...this.pods[n].values()].reduce((a, b) => a + b, 0);
      for (const [w, k] of [...this.pods[n].entries()].sort((a, b) => a[0] - b[0])) {
        const one = bind >= 0 ? workloads[w].wants[bind] / node.has[bind] : 1 / Math.max(total, 1);
        const each = total > CELLS ? [k] : new Array(k).fill(1);
        for (const pods of each) {
          const c = el('div', { class: 'cell ' + colour(w), 'data-w': workloads[w].of }, tag(w));
          c.style.width = Math.min(100, 100 * one * pods) + '%';
          cells.append(c);
        }
        list.append(el('li', { 'data-w': workloads[w].of }, el('button', { type: 'button', onclick: () => select(workloads[w].of) },
          el('span', { class: 'key ' + colour(w) }, tag(w)), k + ' x ' + workloads[w].name)));
      }
      const use = resources.map((name, r) => {
        if (node.has[r] < 0 || (r > 2 && used[r] === 0)) return '';
        const free = nodes.map((i) => this.pic.nodes[i].has[r] - used[r]), low = Math.min(...free), high = Math.max(...free);
        return name + ' ' + amount(name, low) + (high > low ? ' to ' + amount(name, high) : '') + ' free of ' + amount(name, node.has[r]) + (r === bind && used[r] > 0 ? ' (bar)' : '');
      }).filter(Boolean).join(', ');
      const step = this.at - 1;
      return el('div', { class: 'node' + (out ? ' out' : '') + (moved ? ' moved' : '') },
        el('div', { class: 'name' }, nodes.length > 1 ? count(nodes.length, 'node') + ' with the same pods, ' + node.name + ' first' : node.name, ...flags.map((f) => el('span', { class: 'flag' }, f))),
        moved ? el('div', { class: 'what' }, (this.ops[step] === PLACE ? 'placed: ' : 'leaves: ') + workloads[this.ws[step]].name) : null,
        cells, total ? list : el('p', { class: 'use' }, 'no pods'), use ? el('p', { class: 'use' }, use) : null);
    }

    drawTray() {
      const end = this.at === this.steps;
      this.tray.className = 'tray' + (end && this.run.pending.length ? '' : ' none');
      const title = el('h4', {}, 'Pending'), kids = [title];
      if (!end) {
        kids.push(el('p', {}, count(this.placed, 'pod') + ' in place. The pods that stay Pending are listed after the last step.'));
      } else if (!this.run.pending.length) {
        kids.push(el('p', {}, 'none'));
      }
      const pending = end ? this.run.pending : [];
      for (const p of pending.slice(0, this.listed)) {
        const filters = el('ul');
        for (const r of p.refused) {
          const [nodes, size] = some(r.nodes, 5), names = nodes.map((n) => this.pic.nodes[n].name).join(', ');
          filters.append(el('li', {}, S[r.filter] + ' refuses it on ' + count(size, 'node') + ': ' + names + (size > 5 ? ' and ' + (size - 5) + ' more' : '') + (r.why ? '. ' + this.pic.nodes[nodes[0]].name + ' ' + S[r.why] : '')));
        }
        kids.push(el('p', { 'data-w': this.pic.workloads[p.workload].of }, el('span', { class: 'key ' + colour(p.workload) }, tag(p.workload)),
          count(p.count, 'pod') + ' of ' + this.pic.workloads[p.workload].name + (p.orphaned ? ', deleted by the pod garbage collector' : ' Pending') + (p.reason ? ': ' + S[p.reason] : '')), filters);
      }
      if (pending.length > this.listed) {
        const more = pending.length - this.listed;
        kids.push(el('button', { type: 'button', onclick: () => { this.listed += PAGE; this.drawTray(); mark(); } }, 'Show ' + Math.min(PAGE, more) + ' more of ' + more + ' workloads'));
      }
      this.tray.replaceChildren(...kids);
    }
  }

  const colour = (w) => 'c' + (w % 8) + ' p' + (Math.floor(w / 8) % 4);

  // The state of the page.
  let ctx, pic, boards = [], selected = -1, timer = 0, page = 0;

  function select(of) {
    selected = selected === of ? -1 : of;
    mark();
    table();
  }

  // mark highlights the pods of the selected workload.
  function mark() {
    for (const b of boards) {
      b.root.classList.toggle('has-sel', selected >= 0);
      for (const e of b.root.querySelectorAll('[data-w]')) e.classList.toggle('sel', selected >= 0 && Number(e.getAttribute('data-w')) === selected);
    }
    const row = ctx.rows.find((r) => r.of === selected);
    const box = $('detail');
    box.hidden = !row;
    if (row) {
      box.replaceChildren(el('h3', {}, S[row.name]), el('p', {}, ctx.columns.map((c, i) => S[c] + ': ' + S[row.cells[i]]).join(', ')),
        el('ul', {}, ...row.reasons.map((r) => el('li', {}, S[r]))), el('button', { type: 'button', onclick: () => select(selected) }, 'Clear selection'));
    }
  }

  function go(k) {
    const main = boards[0];
    if (!main) return;
    k = Math.max(0, Math.min(k, Math.max(...boards.map((b) => b.steps))));
    for (const b of boards) b.seek(Math.min(k, b.steps));
    const last = Math.max(...boards.map((b) => b.steps));
    $('slider').max = last;
    $('slider').value = k;
    $('sentence').textContent = boards.map((b) => b.sentence()).join(' Beside it: ');
    $('slider').setAttribute('aria-valuetext', $('sentence').textContent);
    $('first').disabled = $('back').disabled = k === 0;
    $('last').disabled = $('next').disabled = k === last;
    if (k === last) stop();
    if (selected >= 0) mark();
  }
  const step = () => Number($('slider').value);

  function stop() { clearInterval(timer); timer = 0; $('play').textContent = 'Play'; $('play').setAttribute('aria-pressed', 'false'); }
  function play() {
    if (timer) { stop(); return; }
    if (step() >= Number($('slider').max)) go(0);
    timer = setInterval(() => go(step() + 1), 800);
    $('play').textContent = 'Pause';
    $('play').setAttribute('aria-pressed', 'true');
  }

  function show(index, beside) {
    stop();
    const both = beside >= 0 && beside !== index ? [index, beside] : [index];
    boards = both.map((i) => new Board(pic, i));
    $('boards').className = 'boards' + (both.length > 1 ? ' two' : '');
    $('boards').replaceChildren(...boards.map((b) => b.root));
    [...$('runs').querySelectorAll('button')].forEach((b, i) => b.setAttribute('aria-current', i === index ? 'true' : 'false'));
    $('beside').value = String(both.length > 1 ? beside : -1);
    $('slider').value = 0;
    go(Math.max(...boards.map((b) => b.steps)));
    mark();
  }
  const current = () => [...$('runs').querySelectorAll('button')].findIndex((b) => b.getAttribute('aria-current') === 'true');

  function table() {
    const text = $('search').value.trim().toLowerCase(), want = $('filter').value;
    const pending = new Set(boards.flatMap((b) => b.run.pending.map((p) => pic.workloads[p.workload].of)));
    const rows = ctx.rows.filter((r) => (text === '' || S[r.name].toLowerCase().includes(text)) && (want === 'all' || (want === 'pending' ? pending.has(r.of) : !r.fine)));
    page = Math.max(0, Math.min(page, Math.ceil(rows.length / ROWS) - 1));
    const body = rows.slice(page * ROWS, (page + 1) * ROWS).map((r) => el('tr', { class: r.of === selected && selected >= 0 ? 'sel' : '' },
      el('th', { scope: 'row' }, r.of >= 0 ? el('button', { type: 'button', 'aria-pressed': r.of === selected ? 'true' : 'false', onclick: () => select(r.of) }, S[r.name]) : S[r.name]),
      el('td', {}, String(r.replicas)), ...r.cells.map((c) => el('td', { class: /^(no|may|not known|waits)/.test(S[c]) ? 'no' : '' }, S[c]))));
    $('rows').replaceChildren(...body);
    $('found').textContent = count(rows.length, 'workload') + (rows.length > ROWS ? ', ' + (page * ROWS + 1) + ' to ' + Math.min(rows.length, (page + 1) * ROWS) + ' shown' : '');
    $('earlier').hidden = $('later').hidden = rows.length <= ROWS;
    $('earlier').disabled = page === 0;
    $('later').disabled = (page + 1) * ROWS >= rows.length;
  }

  function context(i) {
    ctx = data.contexts[i];
    selected = -1;
    page = 0;
    document.querySelectorAll('.static').forEach((e, k) => {
      e.hidden = k !== i;
      e.querySelectorAll('.scroll').forEach((t) => { t.hidden = true; }); // the table below replaces it
    });
    $('heads').replaceChildren(el('th', { scope: 'col' }, 'workload'), el('th', { scope: 'col' }, 'replicas'), ...ctx.columns.map((c) => el('th', { scope: 'col' }, S[c])));
    $('table').hidden = ctx.rows.length === 0;
    pic = ctx.picture ? picture(ctx.picture) : null;
    boards = [];
    const runs = pic ? pic.runs : [];
    $('run').hidden = runs.length === 0;
    $('runs').replaceChildren(...runs.map((r, k) => el('li', {}, el('button', { type: 'button', onclick: () => { show(k, preferred(k)); table(); } }, S[r.title]))));
    $('beside').replaceChildren(el('option', { value: '-1' }, 'nothing'), ...runs.map((r, k) => el('option', { value: String(k) }, S[r.title])));
    if (runs.length) {
      const stuck = runs.findIndex((r) => r.question === 'stuck'), first = stuck >= 0 ? stuck : 0;
      show(first, preferred(first));
    }
    table();
    mark();
  }

  // preferred returns the run to show beside another one: the placement of all pods beside the run
  // that gets stuck, unless there are many nodes.
  function preferred(k) {
    return pic.runs[k].question === 'stuck' && pic.runs[0].question === 'placed' && pic.nodes.length <= OPEN ? 0 : -1;
  }

  $('first').onclick = () => { stop(); go(0); };
  $('back').onclick = () => { stop(); go(step() - 1); };
  $('next').onclick = () => { stop(); go(step() + 1); };
  $('last').onclick = () => { stop(); go(Infinity); };
  $('play').onclick = play;
  $('slider').oninput = () => { stop(); go(step()); };
  $('beside').onchange = () => { const at = step(); show(current(), Number($('beside').value)); go(at); table(); };
  $('search').oninput = () => { page = 0; table(); };
  $('filter').onchange = () => { page = 0; table(); };
  $('earlier').onclick = () => { page--; table(); };
  $('later').onclick = () => { page++; table(); };
  document.addEventListener('keydown', (e) => {
    const t = e.target;
    if (e.ctrlKey || e.metaKey || e.altKey || t.closest('input, select, .scroll') || !boards.length) return;
    const to = { ArrowRight: step() + 1, ArrowLeft: step() - 1, Home: 0, End: Infinity }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    stop();
    go(to);
  });
  const chooser = $('context');
  chooser.replaceChildren(...data.contexts.map((c, i) => el('option', { value: String(i) }, S[c.title])));
  chooser.closest('p').hidden = data.contexts.length < 2;
  chooser.onchange = () => context(Number(chooser.value));
  $('app').hidden = false;
  if (data.contexts.length) context(0);
})();
