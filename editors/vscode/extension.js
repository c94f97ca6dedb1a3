// The extension starts `interlock lsp` and connects VS Code to it: all else is the server's.
const { commands, workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = async context => {
  const command = workspace.getConfiguration('interlock').get('path');
  client = new LanguageClient('interlock', 'Interlock', { command, args: ['lsp'] }, {
    documentSelector: [{ scheme: 'file', language: 'go' }],
    synchronize: { configurationSection: 'interlock' },
  });
  context.subscriptions.push(commands.registerCommand('interlock.restart', () => client.restart()));
  await client.start();
};

exports.deactivate = () => client?.stop();
