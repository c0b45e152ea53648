'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const S = data.strings;
  const PLACE = 0, REMOVE = 1, LOSE = 2; // as in page.go
  const FOLD = 8;                        // more nodes of a zone and pool fold by their pods
  const OPEN = 200;                      // with more nodes, pools start closed
  const GROUPS = 4, PAGE = 8, ROWS = 50, CELLS = 24; // what is shown at once: groups of nodes, their nodes, rows, and cells of a node
  const ATONCE = 3;                      // with more nodes, a step redraws so many open pools, and one more in each frame
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
        if (v >= size) return Math.floor(v / size * 10) / 10 + unit; // never more than there is
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

  // swap makes kids the children of a box. It touches only what differs, and keeps the focus on the
  // element that has the same data-f.
  function swap(box, kids) {
    const had = document.activeElement, inside = box.contains(had) && had !== box, key = inside && had.getAttribute('data-f');
    const keep = new Set(kids);
    for (const old of [...box.childNodes]) if (!keep.has(old)) old.remove();
    let at = box.firstChild;
    for (const kid of kids) {
      if (kid === at) at = at.nextSibling; else box.insertBefore(kid, at);
    }
    if (!inside || had === document.activeElement) return;
    const same = key === null ? undefined : [...box.querySelectorAll('[data-f]')].find((e) => e.getAttribute('data-f') === key);
    if (!same) box.setAttribute('tabindex', '-1');
    (same || box).focus({ preventScroll: true });
  }
  const button = (key, text, onclick) => el('button', { type: 'button', 'data-f': key, onclick }, text);

  // picture unpacks the nodes and workloads of a context. Nodes with the same kind look the same when
  // they are empty.
  function picture(p) {
    const R = p.resources.length, nodes = [], workloads = [];
    for (let i = 0; i < p.nodes.length; i += 5 + R) {
      const [name, zone, pool, flags, taints] = p.nodes.slice(i, i + 5), has = p.nodes.slice(i + 5, i + 5 + R);
      nodes.push({
        name: S[name], zone: S[zone] !== '' ? 'zone ' + S[zone] : flags & 2 ? 'zone not known' : 'no zone', pool: S[pool], cordoned: (flags & 1) > 0, taints: S[taints], has,
        kind: [flags, taints, ...has.map((v) => v.toPrecision(2))].join(' '),
      });
    }
    for (let i = 0; i < p.workloads.length; i += 2 + R) {
      const fresh = p.workloads[i + 1] > 0;
      workloads.push({ name: S[p.workloads[i]] + (fresh ? ', new pods' : ''), of: p.workloads[i], wants: p.workloads.slice(i + 2, i + 2 + R) });
    }
    return { resources: p.resources.map((r) => S[r]), nodes, workloads, running: p.running, runs: p.runs, opened: new Map() };
  }
  const FATES = { drained: 'drained', unreachable: 'unreachable', gone: 'deleted' };

  // later fills a pool in one of the next frames.
  const waiting = new Map();
  function later(s, board) {
    waiting.set(s, board);
    if (waiting.size === 1) requestAnimationFrame(fillNext);
  }
  function fillNext() {
    const [s, board] = waiting.entries().next().value;
    board.fill(s);
    waiting.delete(s);
    if (waiting.size > 0) requestAnimationFrame(fillNext);
  }

  // Board shows one run. It keeps the pods of every node and changes only what a step changes.
  class Board {
    constructor(pic, index) {
      this.pic = pic;
      this.run = pic.runs[index];
      this.ops = []; this.ws = []; this.ns = [];
      this.unpack(this.run.after >= 0 ? pic.runs[this.run.after].events : []);
      this.unpack(this.run.events);
      this.lost = new Set(ranges(this.run.lost));
      this.pods = pic.nodes.map(() => new Map());
      this.keys = new Array(pic.nodes.length); // what key returns, until the pods change
      const R = pic.resources.length;
      this.used = pic.nodes.map(() => new Float64Array(R)); // what the pods request
      this.share = new Float64Array(pic.nodes.length);      // the largest share of a resource, and that resource
      this.bind = new Int16Array(pic.nodes.length).fill(-1);
      this.struck = false;
      this.moved = -1; // the node of the last step
      this.listed = PAGE; // workloads in the tray
      this.at = 0;
      this.placed = 0;
      this.sections = [];
      this.bySection = [];
      this.build();
      for (let i = 0; i < pic.running.length; i += 2) this.add(pic.running[i], pic.running[i + 1], 1);
    }

    unpack(list) {
      for (let i = 0; i < list.length; i += 4) {
        for (let k = 0; k < list[i + 3]; k++) { this.ops.push(list[i]); this.ws.push(list[i + 1]); this.ns.push(list[i + 2]); }
      }
    }

    get steps() { return this.ops.length; }

    add(w, n, by) {
      const pods = this.pods[n], now = (pods.get(w) || 0) + by, used = this.used[n], { has } = this.pic.nodes[n], { wants } = this.pic.workloads[w];
      if (now > 0) pods.set(w, now); else pods.delete(w);
      this.placed += by;
      this.bySection[n].pods += by;
      this.keys[n] = undefined;
      this.share[n] = 0;
      this.bind[n] = -1;
      for (let r = 0; r < used.length; r++) {
        used[r] += wants[r] * by;
        if (has[r] > 0 && used[r] / has[r] > this.share[n]) { this.share[n] = used[r] / has[r]; this.bind[n] = r; }
      }
    }

    // seek goes to the state after the first k steps.
    seek(k) {
      k = Math.max(0, Math.min(k, this.steps));
      const dirty = new Set();
      const touch = (n) => { if (n >= 0) dirty.add(this.bySection[n]); };
      touch(this.moved);
      while (this.at !== k) {
        const back = this.at > k, i = back ? this.at - 1 : this.at;
        this.at += back ? -1 : 1;
        if (this.ops[i] === LOSE) {
          this.struck = !back;
          this.lost.forEach(touch);
        } else {
          this.add(this.ws[i], this.ns[i], (this.ops[i] === PLACE) === !back ? 1 : -1);
          touch(this.ns[i]);
        }
      }
      this.moved = this.at > 0 && this.ops[this.at - 1] !== LOSE ? this.ns[this.at - 1] : -1;
      touch(this.moved);
      for (const s of this.drawn ? dirty : this.sections) this.label(s);
      const open = [...this.drawn ? dirty : this.sections].filter((s) => s.details.open);
      this.drawn = true;
      open.forEach((s, i) => (i < ATONCE || this.pic.nodes.length <= OPEN ? this.fill(s) : later(s, this)));
      this.drawFullest();
      this.drawTray();
    }

    sentence() {
      const i = this.at - 1;
      if (i < 0) return 'Start: ' + count(this.placed, 'pod') + ' in place, ' + count(this.steps, 'step') + ' to come.';
      let text = 'Step ' + this.at + ' of ' + this.steps + ': ';
      if (this.ops[i] === LOSE) {
        const names = [...this.lost].map((n) => this.pic.nodes[n].name);
        text += (names.length > 3 ? count(names.length, 'node') : names.join(', ')) + (names.length > 1 ? ' are ' : ' is ') + FATES[this.run.meaning] + '.';
      } else {
        text += 'a pod of ' + this.pic.workloads[this.ws[i]].name + (this.ops[i] === PLACE ? ' is placed on ' : ' leaves ') + this.pic.nodes[this.ns[i]].name + '.';
      }
      if (this.at < this.steps) return text;
      const left = this.run.pending.reduce((sum, p) => sum + p.count, 0);
      return text + (this.run.question === 'rollout' ? ' The rollout is stuck here' : ' The run ends here') + (left > 0 ? ': ' + count(left, 'pod') + ' Pending.' : ': none of its pods is Pending.');
    }

    build() {
      const zones = new Map();
      this.pic.nodes.forEach((n, i) => {
        if (!zones.has(n.zone)) zones.set(n.zone, new Map());
        const pools = zones.get(n.zone);
        if (!pools.has(n.pool)) pools.set(n.pool, { id: n.zone + '\n' + n.pool, pool: n.pool, nodes: [], pods: 0, shown: GROUPS, open: new Map(), cards: new Map(), pin: -1 });
        pools.get(n.pool).nodes.push(i);
        this.bySection[i] = pools.get(n.pool);
      });
      this.zones = el('div', { class: 'zones' });
      for (const zone of [...zones.keys()].sort()) {
        const box = el('section', { class: 'zone' }, el('h4', {}, zones.size === 1 && zone === 'no zone' ? 'nodes' : zone));
        for (const name of [...zones.get(zone).keys()].sort()) {
          const s = zones.get(zone).get(name), opened = this.pic.opened.get(s.id);
          s.summary = el('summary');
          s.body = el('div');
          s.details = el('details', { open: opened === undefined ? this.pic.nodes.length <= OPEN : opened }, s.summary, s.body);
          s.details.addEventListener('toggle', () => { this.pic.opened.set(s.id, s.details.open); later(s, this); });
          this.sections.push(s);
          box.append(s.details);
        }
        this.zones.append(box);
      }
      this.tray = el('section', { class: 'tray' });
      this.fullest = el('p', { class: 'soft' });
      this.root = el('section', { class: 'board' }, el('h3', {}, S[this.run.title]),
        this.run.note ? el('p', { class: 'soft' }, S[this.run.note]) : null,
        this.run.after < 0 && /rollout|drain|loss/.test(this.run.question) ? el('p', { class: 'soft' }, 'This run places only the workloads that compete for the same nodes or that rules connect. Free room does not count the others.') : null,
        this.fullest, this.zones, this.tray);
    }

    label(s) {
      const out = this.struck ? s.nodes.filter((n) => this.lost.has(n)).length : 0;
      const text = (s.pool === '' ? '' : 'pool ' + s.pool + ': ') + count(s.nodes.length, 'node') + ', ' + count(s.pods, 'pod') + (out ? ', ' + out + ' ' + FATES[this.run.meaning] : '');
      if (s.summary.textContent !== text) s.summary.textContent = text;
    }

    // fill shows the nodes of a zone and pool if they are open.
    fill(s) {
      if (!s.details.open) return;
      const alone = [], classes = new Map(); // the nodes of the last step and of a search come first
      for (const n of s.nodes) {
        if (s.nodes.length <= FOLD || n === this.moved || n === s.pin) { alone.push([n, [n]]); continue; }
        const key = this.key(n) + (this.struck && this.lost.has(n) ? ' out' : '');
        if (classes.has(key)) classes.get(key).push(n); else classes.set(key, [n]);
      }
      const cards = [], list = alone.concat([...classes.entries()]), had = s.cards;
      s.cards = new Map();
      const most = s.nodes.length <= FOLD ? FOLD : s.shown;
      for (const [key, nodes] of list.slice(0, most)) {
        cards.push(this.card(s, had, nodes));
        if (nodes.length > 1) cards.push(...this.members(s, had, key, nodes));
      }
      if (list.length > most) {
        cards.push(button('more', 'Show ' + Math.min(GROUPS, list.length - s.shown) + ' more of ' + (list.length - s.shown) + ' groups of nodes', () => { s.shown += GROUPS; this.fill(s); }));
      }
      swap(s.body, cards);
    }

    // members lists the nodes of a folded group on demand.
    members(s, had, key, nodes) {
      const shown = s.open.get(key) || 0, show = (k) => () => { s.open.set(key, k); this.fill(s); };
      const toggle = button('group ' + key, shown ? 'Fold these ' + nodes.length + ' nodes' : 'Show these ' + nodes.length + ' nodes', show(shown ? 0 : PAGE));
      toggle.setAttribute('aria-expanded', shown > 0);
      const all = [toggle];
      for (const n of nodes.slice(0, shown)) all.push(this.card(s, had, [n]));
      if (shown > 0 && nodes.length > shown) {
        all.push(button('more ' + key, 'Show ' + Math.min(PAGE, nodes.length - shown) + ' more of ' + (nodes.length - shown) + ' nodes', show(shown + PAGE)));
      }
      return all;
    }

    // key is a text that nodes share if they look the same.
    key(n) {
      return this.keys[n] || (this.keys[n] = this.list(n).join(';') + '|' + this.pic.nodes[n].kind);
    }
    list(n) { return [...this.pods[n]].sort((a, b) => a[0] - b[0]); }
    percent(n) { return this.pic.resources[this.bind[n]] + ' ' + Math.floor(100 * this.share[n]) + '% used'; }

    // card shows a node, or the first of several that look the same. It returns the card that was there
    // if nothing has changed.
    card(s, had, nodes) {
      const { resources, workloads } = this.pic, n = nodes[0], node = this.pic.nodes[n], used = this.used[n], bind = this.bind[n], total = used[2]; // the third resource is pods
      const out = this.struck && this.lost.has(n), moved = n === this.moved;
      const free = [], unlisted = [];
      resources.forEach((name, r) => {
        if (node.has[r] < 0) { if (r < 2) unlisted.push(name); return; }
        if (r > 2 && used[r] === 0) return;
        let low = Infinity, high = -Infinity;
        for (const i of nodes) { low = Math.min(low, this.pic.nodes[i].has[r]); high = Math.max(high, this.pic.nodes[i].has[r]); }
        free.push(name + ' ' + amount(name, low - used[r]) + (high > low ? ' to ' + amount(name, high - used[r]) + ' of up to ' : ' of ') + amount(name, high));
      });
      const use = (bind >= 0 ? 'Bar: ' + this.percent(n) + '. ' : total > 0 ? 'The bar is not to scale. ' : '') + (free.length ? 'Free: ' + free.join(', ') + '. ' : '') + (unlisted.length ? 'Not declared: ' + unlisted.join(', ') + '.' : '');
      const id = [n, nodes.length, this.key(n), out, moved ? this.at : '', use].join('\n');
      if (had.has(id)) {
        s.cards.set(id, had.get(id));
        return had.get(id);
      }
      const flags = [];
      if (out) flags.push(FATES[this.run.meaning]);
      if (node.cordoned) flags.push('cordoned');
      if (node.taints) flags.push('taint ' + node.taints);
      const cells = el('div', { class: 'cells', 'aria-hidden': 'true' }), pods = el('ul', { class: 'pods' });
      for (const [w, k] of this.list(n)) {
        const { of, wants, name } = workloads[w], sel = of === selected ? ' sel' : '';
        const one = bind >= 0 ? wants[bind] / node.has[bind] : 1 / Math.max(total, CELLS);
        for (const many of total > CELLS ? [k] : new Array(k).fill(1)) {
          const c = el('div', { class: 'cell ' + colour(w) + sel, 'data-w': of }, one * many < 0.05 ? '' : tag(w));
          c.style.width = Math.min(100, 100 * one * many) + '%';
          cells.append(c);
        }
        const b = button(n + ' ' + w, el('span', { class: 'key ' + colour(w) }, tag(w)), () => select(of));
        b.append(k + ' x ' + name);
        pods.append(el('li', { 'data-w': of, class: sel }, b));
      }
      const step = this.at - 1;
      const card = el('div', { class: 'node' + (out ? ' out' : '') + (moved ? ' moved' : '') },
        el('div', { class: 'name' }, nodes.length > 1 ? count(nodes.length, 'node') + ' with the same pods, ' + node.name + ' first' : node.name, ...flags.map((f) => el('span', { class: 'flag' }, f))),
        moved ? el('div', { class: 'what' }, (this.ops[step] === PLACE ? 'placed: ' : 'leaves: ') + workloads[this.ws[step]].name) : null,
        cells, total ? pods : el('p', { class: 'use' }, 'no pods'), use ? el('p', { class: 'use' }, use) : null);
      s.cards.set(id, card);
      return card;
    }

    // drawFullest names the node with the least room and leads to it.
    drawFullest() {
      let best = -1, same = 0;
      for (let n = 0; n < this.pods.length; n++) {
        const share = this.struck && this.lost.has(n) ? 0 : this.share[n];
        if (share > (best < 0 ? 0 : this.share[best])) { best = n; same = 0; } else if (best >= 0 && share === this.share[best]) same++;
      }
      swap(this.fullest, best < 0 ? [] : [same ? 'Fullest nodes: ' : 'Fullest node: ', button('fullest', this.pic.nodes[best].name, () => this.reveal(best)), (same ? ' and ' + same + ' more' : '') + ', ' + this.percent(best)].map((x) => (x.nodeType ? x : document.createTextNode(x))));
    }

    reveal(n) {
      const s = this.bySection[n];
      s.pin = n;
      s.details.open = true;
      this.fill(s);
      const card = [...s.cards].find(([id]) => id.startsWith(n + '\n1\n'))[1];
      card.setAttribute('tabindex', '-1');
      card.focus();
    }

    drawTray() {
      const end = this.at === this.steps, pending = end ? this.run.pending : [];
      this.tray.className = 'tray' + (pending.length ? '' : ' none');
      const kids = [el('h4', {}, 'Pending')];
      if (!end) kids.push(el('p', {}, count(this.placed, 'pod') + ' in place. The pods that stay Pending are listed after the last step.'));
      else if (!pending.length) kids.push(el('p', {}, 'none of the pods in this run'));
      for (const p of pending.slice(0, this.listed)) {
        const { of, name } = this.pic.workloads[p.workload], filters = el('ul');
        for (const r of p.refused) {
          const [nodes, size] = some(r.nodes, 5), names = nodes.map((n) => this.pic.nodes[n].name).join(', ');
          filters.append(el('li', {}, (S[r.filter] ? S[r.filter] + ' refuses it on ' : 'No filter refuses it on ') + count(size, 'node') + ': ' + names + (size > 5 ? ' and ' + (size - 5) + ' more' : '') + (r.why ? '. ' + (size > 1 ? 'For example, ' : '') + this.pic.nodes[nodes[0]].name + ' ' + S[r.why] : '')));
        }
        kids.push(el('p', { 'data-w': of, class: of === selected ? 'sel' : '' }, el('span', { class: 'key ' + colour(p.workload) }, tag(p.workload)),
          count(p.count, 'pod') + ' of ' + name + (p.orphaned ? ', deleted by the pod garbage collector' : ' Pending') + (p.reason && !p.refused.length ? ': ' + S[p.reason] : '')), filters);
      }
      if (pending.length > this.listed) {
        const more = pending.length - this.listed;
        kids.push(button('more', 'Show ' + Math.min(PAGE, more) + ' more of ' + more + ' workloads', () => { this.listed += PAGE; this.drawTray(); }));
      }
      swap(this.tray, kids);
    }
  }

  const colour = (w) => 'c' + (w % 8) + ' p' + (Math.floor(w / 8) % 4);

  // The state of the page. A workload is selected by the number of its name.
  let ctx, pic, boards = [], selected = -1, timer = 0, page = 0;

  function select(of) {
    selected = selected === of ? -1 : of;
    mark();
    table();
  }

  // mark highlights the pods of the selected workload and shows its answers.
  function mark() {
    const on = selected >= 0;
    for (const b of boards) {
      b.root.classList.toggle('has-sel', on);
      for (const e of b.root.querySelectorAll('.sel')) e.classList.remove('sel');
      if (on) for (const e of b.root.querySelectorAll('[data-w="' + selected + '"]')) e.classList.add('sel');
    }
    const row = ctx.rows.find((r) => r.of === selected), box = $('detail');
    const inside = box.contains(document.activeElement);
    box.hidden = !row;
    if (inside && !row) $('search').focus();
    if (!row) return;
    const drawn = pic && pic.workloads.some((w) => w.of === row.of);
    box.replaceChildren(...el('div', {}, el('h3', {}, S[row.name]), el('p', {}, ctx.columns.map((c, i) => S[c] + ': ' + S[row.cells[i]]).join(', ')),
      el('ul', {}, ...row.reasons.map((r) => el('li', {}, S[r]))), drawn ? null : el('p', {}, 'No run has pods of it.'), button('clear', 'Clear selection', () => select(selected))).childNodes);
  }

  function go(k) {
    const last = Math.max(...boards.map((b) => b.steps));
    k = Math.max(0, Math.min(k, last));
    for (const b of boards) b.seek(k);
    $('slider').max = last;
    $('slider').value = k;
    $('slider').setAttribute('aria-valuetext', 'step ' + k + ' of ' + last);
    $('sentence').textContent = boards.map((b) => b.sentence()).join(' Beside it: ');
    for (const [id, off] of [['first', k === 0], ['back', k === 0], ['next', k === last], ['last', k === last]]) $(id).setAttribute('aria-disabled', off); // keeps the focus, unlike disabled
    if (k === last) stop();
  }
  const step = () => Number($('slider').value);

  function stop() { clearInterval(timer); timer = 0; $('play').textContent = 'Play'; }
  function play() {
    if (timer) { stop(); return; }
    if (step() >= Number($('slider').max)) go(0);
    timer = setInterval(() => go(step() + 1), 800);
    $('play').textContent = 'Pause';
  }

  const runButtons = () => [...$('runs').querySelectorAll('button')];
  function show(index, beside) {
    stop();
    const both = beside >= 0 && beside !== index ? [index, beside] : [index];
    boards = both.map((i) => new Board(pic, i));
    $('boards').className = 'boards' + (both.length > 1 ? ' two' : '');
    $('boards').replaceChildren(...boards.map((b) => b.root));
    runButtons().forEach((b, i) => b.setAttribute('aria-current', i === index));
    $('beside').value = String(both.length > 1 ? beside : -1);
    go(Infinity);
    mark();
    table();
  }
  const current = () => runButtons().findIndex((b) => b.getAttribute('aria-current') === 'true');

  const pending = () => new Set(boards.flatMap((b) => b.run.pending.map((p) => pic.workloads[p.workload].of)));
  const filters = {
    all: () => () => true,
    other: () => (r) => !r.fine,
    open: () => (r) => r.cells.some((c) => S[c].includes('not known')),
    pending: () => { const all = pending(); return (r) => all.has(r.of); },
  };
  const look = (text) => (/\b(no|may|waits)\b/.test(text) ? 'no' : text.includes('not known') ? 'open' : '');

  function table() {
    const text = $('search').value.trim().toLowerCase(), wanted = filters[$('filter').value]();
    const rows = ctx.rows.filter((r) => (text === '' || S[r.name].toLowerCase().includes(text)) && wanted(r));
    page = Math.max(0, Math.min(page, Math.ceil(rows.length / ROWS) - 1));
    swap($('rows'), rows.slice(page * ROWS, (page + 1) * ROWS).map((r) => {
      if (!r.line) { // once for each row
        r.button = button(r.of, S[r.name], () => select(r.of));
        r.line = el('tr', {}, el('th', { scope: 'row' }, r.button), el('td', {}, String(r.replicas)), ...r.cells.map((c) => el('td', { class: look(S[c]) }, S[c])));
      }
      r.button.setAttribute('aria-pressed', r.of === selected);
      r.line.className = r.of === selected ? 'sel' : '';
      return r.line;
    }));
    $('found').textContent = count(rows.length, 'workload') + (rows.length < ctx.rows.length ? ' of ' + ctx.rows.length : '') + (rows.length > ROWS ? ', ' + (page * ROWS + 1) + ' to ' + Math.min(rows.length, (page + 1) * ROWS) + ' shown' : '');
    $('earlier').hidden = $('later').hidden = rows.length <= ROWS;
    $('earlier').setAttribute('aria-disabled', page === 0);
    $('later').setAttribute('aria-disabled', (page + 1) * ROWS >= rows.length);
  }

  function context(i) {
    stop();
    ctx = data.contexts[i];
    selected = -1;
    page = 0;
    document.querySelectorAll('.static').forEach((e, k) => {
      e.hidden = k !== i;
      e.querySelectorAll('.scroll').forEach((t) => { t.hidden = true; }); // the table below replaces it
    });
    $('heads').replaceChildren(...['workload', 'replicas', ...ctx.columns.map((c) => S[c])].map((text) => el('th', { scope: 'col' }, text)));
    $('table').hidden = ctx.rows.length === 0;
    pic = ctx.picture ? picture(ctx.picture) : null;
    boards = [];
    const runs = pic ? pic.runs : [], left = pic ? ctx.picture.leftOut : [];
    $('run').hidden = runs.length + left.length === 0;
    $('steps').hidden = runs.length === 0;
    $('left').replaceChildren(...left.map((text) => el('li', {}, S[text])));
    $('runs').replaceChildren(...runs.map((r, k) => el('li', {}, el('button', { type: 'button', onclick: () => show(k, preferred(k)) }, S[r.title]))));
    $('beside').replaceChildren(el('option', { value: '-1' }, 'nothing'), ...runs.map((r, k) => el('option', { value: String(k) }, S[r.title])));
    if (runs.length) {
      const first = Math.max(0, runs.findIndex((r) => r.question === 'stuck'));
      show(first, preferred(first));
    } else {
      mark();
      table();
    }
  }

  // preferred returns the run to show beside another one: the placement of all pods beside the run
  // that gets stuck, unless there are many nodes.
  function preferred(k) {
    return pic.runs[k].question === 'stuck' && pic.runs[0].question === 'placed' && pic.nodes.length <= OPEN ? 0 : -1;
  }

  const targets = { first: () => 0, back: () => step() - 1, next: () => step() + 1, last: () => Infinity };
  for (const id of Object.keys(targets)) $(id).onclick = () => { stop(); go(targets[id]()); };
  $('play').onclick = play;
  $('slider').oninput = () => { stop(); go(step()); };
  $('beside').onchange = () => { const at = step(); show(current(), Number($('beside').value)); go(at); };
  $('search').oninput = $('filter').onchange = () => { page = 0; table(); };
  $('earlier').onclick = () => { page--; table(); };
  $('later').onclick = () => { page++; table(); };
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey || e.target.closest('input, select, .scroll') || !boards.length) return;
    const to = { ArrowRight: 'next', ArrowLeft: 'back', Home: 'first', End: 'last' }[e.key];
    if (!to) return;
    e.preventDefault();
    stop();
    go(targets[to]());
  });
  let folded = []; // what printing opens
  window.addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('.static details:not([open])')];
    for (const d of folded) d.open = true;
  });
  window.addEventListener('afterprint', () => { for (const d of folded) d.open = false; });
  const chooser = $('context');
  chooser.replaceChildren(...data.contexts.map((c, i) => el('option', { value: String(i) }, S[c.title])));
  chooser.closest('p').hidden = data.contexts.length < 2;
  chooser.onchange = () => context(Number(chooser.value));
  $('app').hidden = false;
  if (data.contexts.length) context(0);
})();
