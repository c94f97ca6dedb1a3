// Asks the server for each thing that it serves, as a client on Microsoft's own protocol library.
// Run by editors_test.go, as
//   INTERLOCK=<program> node client.js <folder of the module> <file> <test file>
const { spawn } = require('child_process');
const { readFileSync, writeFileSync } = require('fs');
const { pathToFileURL } = require('url');
const assert = require('assert');
const p = require('vscode-languageserver-protocol/node');

const [root, file, test] = process.argv.slice(2);
const uri = name => pathToFileURL(name).href;
const server = spawn(process.env.INTERLOCK, ['lsp'], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
const code = new Promise(resolve => server.on('exit', resolve));
const conn = p.createProtocolConnection(
  new p.StreamMessageReader(server.stdout), new p.StreamMessageWriter(server.stdin));

// What the server sends by itself.
const shown = new Map(), progress = [], messages = [];
let changed = () => {};
const settings = { codeLens: true, inlayHints: true, testFlags: ['-runs=2', '-replays=0', '-seed=1'] };
conn.onNotification(p.PublishDiagnosticsNotification.type, d => { shown.set(d.uri, d); changed(); });
conn.onNotification(p.ShowMessageNotification.type, m => messages.push(m.message));
conn.onRequest(p.WorkDoneProgressCreateRequest.type, ({ token }) => {
  conn.onProgress(p.WorkDoneProgress.type, token, v => progress.push(v));
});
conn.onRequest(p.ConfigurationRequest.type, c => c.items.map(i => i.section === 'interlock' ? settings : null));
let watched;
conn.onRequest(p.RegistrationRequest.type, r => { watched = r.registrations.map(x => x.method); });
conn.listen();

// Waits until a file shows what ok wants.
const until = (name, ok) => new Promise((resolve, reject) => {
  const timer = setTimeout(() => reject(new Error('waited too long: ' + JSON.stringify([...shown]))), 120000);
  changed = () => {
    const d = shown.get(uri(name));
    if (d && ok(d.diagnostics)) { clearTimeout(timer); resolve(d.diagnostics); }
  };
  changed();
});

// The text at a range, by the rules of the library.
const textAt = (text, r) => text.split('\n')[r.start.line].slice(r.start.character, r.end.character);

const apply = (text, edits) => {
  const lines = text.split('\n');
  const offset = at => lines.slice(0, at.line).join('\n').length + (at.line > 0 ? 1 : 0) + at.character;
  for (const e of [...edits].reverse()) {
    text = text.slice(0, offset(e.range.start)) + e.newText + text.slice(offset(e.range.end));
  }
  return text;
};

(async () => {
  const init = await conn.sendRequest(p.InitializeRequest.type, {
    processId: process.pid, rootUri: uri(root), workspaceFolders: [{ uri: uri(root), name: 'm' }],
    capabilities: {
      window: { workDoneProgress: true },
      workspace: { configuration: true, didChangeWatchedFiles: { dynamicRegistration: true }, workspaceEdit: { documentChanges: true } },
      textDocument: {
        publishDiagnostics: { relatedInformation: true, codeDescriptionSupport: true, dataSupport: true, versionSupport: true },
        codeAction: { isPreferredSupport: true, dataSupport: true, disabledSupport: true, resolveSupport: { properties: ['edit'] } },
      },
    },
  });
  const can = init.capabilities;
  assert(can.hoverProvider && can.codeActionProvider.resolveProvider && can.inlayHintProvider && can.codeLensProvider);
  assert(!can.codeActionProvider.codeActionKinds.some(k => k.startsWith('source')), 'no action is applied by fixAll');
  assert.strictEqual(can.positionEncoding, 'utf-16');
  await conn.sendNotification(p.InitializedNotification.type, {});

  // Diagnostics, with all that belongs to them.
  let text = readFileSync(file, 'utf8');
  const open = (name, version) => conn.sendNotification(p.DidOpenTextDocumentNotification.type, {
    textDocument: { uri: uri(name), languageId: 'go', version, text: readFileSync(name, 'utf8') } });
  await open(file, 1);
  const [d] = await until(file, list => list.length === 1);
  assert.strictEqual(d.source, 'interlock');
  console.log('at %d:%d: %s: %s', d.range.start.line + 1, d.range.start.character + 1, d.code, d.message);
  assert.strictEqual(textAt(text, d.range), 'c.n');
  assert(d.codeDescription.href.endsWith('#' + d.code.toLowerCase()));
  assert(d.relatedInformation.length > 0 && d.data);
  for (const r of d.relatedInformation) assert.strictEqual(textAt(text, r.location.range), 'c.n');
  const doc = { textDocument: { uri: uri(file) } };

  // Hover, hints, lenses.
  const hover = await conn.sendRequest(p.HoverRequest.type, { ...doc, position: d.range.end });
  assert.match(hover.contents.value, /guarded by `c.mu`, held in 2 of 3 accesses/);
  const hints = await conn.sendRequest(p.InlayHintRequest.type,
    { ...doc, range: { start: { line: 0, character: 0 }, end: { line: 1000, character: 0 } } });
  assert.deepStrictEqual(hints.map(h => h.label), ['guarded by mu (2 of 3)']);
  await open(test, 1);
  const lenses = await conn.sendRequest(p.CodeLensRequest.type, { textDocument: { uri: uri(test) } });
  assert.deepStrictEqual(lenses.map(l => l.command.title), ['run under Interlock']);

  // An edit that is not saved moves the places along.
  const edited = '// 𝒲\n' + text;
  await conn.sendNotification(p.DidChangeTextDocumentNotification.type, { textDocument: { uri: uri(file), version: 2 },
    contentChanges: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, text: '// 𝒲\n' }] });
  const moved = { start: { ...d.range.start, line: d.range.start.line + 1 }, end: { ...d.range.end, line: d.range.end.line + 1 } };
  const later = await conn.sendRequest(p.CodeActionRequest.type, { ...doc, range: moved, context: { diagnostics: [] } });
  assert.strictEqual(textAt(edited, later[0].diagnostics[0].range), 'c.n');
  await conn.sendNotification(p.DidChangeTextDocumentNotification.type,
    { textDocument: { uri: uri(file), version: 3 }, contentChanges: [{ text }] });

  // Actions: one is preferred, and its edit is made on demand, for this version.
  const actions = await conn.sendRequest(p.CodeActionRequest.type, { ...doc, range: d.range, context: { diagnostics: [d] } });
  const preferred = actions.filter(a => a.isPreferred);
  assert.strictEqual(preferred.length, 1);
  assert.strictEqual(preferred[0].edit, undefined);
  const only = await conn.sendRequest(p.CodeActionRequest.type,
    { ...doc, range: d.range, context: { diagnostics: [d], only: ['source.fixAll'] } });
  assert.strictEqual(only.length, 0);
  const explained = await conn.sendRequest(p.ExecuteCommandRequest.type,
    actions.find(a => a.command && a.command.command === 'interlock.explain').command);
  assert.match(explained, /^IL1001: /);

  // A test that is run under Interlock: what it shows becomes an error in the source.
  const said = await conn.sendRequest(p.ExecuteCommandRequest.type, lenses[0].command);
  console.log(said);
  const [seen] = await until(file, list => list.some(x => x.severity === 1));
  console.log('%s %s: %s', seen.code, textAt(text, seen.range), seen.message.split('. ')[0]);

  // The patch, applied and saved, clears it.
  const { edit } = await conn.sendRequest(p.CodeActionResolveRequest.type, preferred[0]);
  const [change] = edit.documentChanges;
  // Clients that cannot resolve actions have the same edit sent.
  let sent;
  conn.onRequest(p.ApplyWorkspaceEditRequest.type, a => { sent = a.edit; return { applied: false }; });
  await conn.sendRequest(p.ExecuteCommandRequest.type, { command: 'interlock.fix', arguments: [preferred[0].data] });
  assert.deepStrictEqual(sent, edit);
  assert.strictEqual(change.textDocument.version, 3);
  text = apply(text, change.edits);
  await conn.sendNotification(p.DidChangeTextDocumentNotification.type,
    { textDocument: { uri: uri(file), version: 4 }, contentChanges: [{ text }] });
  writeFileSync(file, text);
  await conn.sendNotification(p.DidSaveTextDocumentNotification.type, doc);
  await until(file, list => list.length === 0);
  assert(progress.some(v => v.kind === 'begin') && progress.some(v => v.kind === 'end'));
  assert.deepStrictEqual(watched, ['workspace/didChangeWatchedFiles']);

  await conn.sendRequest(p.ShutdownRequest.type);
  await conn.sendNotification(p.ExitNotification.type);
  assert.strictEqual(await code, 0);
  process.exit(0);
})().catch(err => {
  console.error(err, messages);
  server.kill();
  process.exit(1);
});
