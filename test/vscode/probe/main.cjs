// A small extension that shows one of each thing the driver can reach.
const { spawn } = require('node:child_process');
const vscode = require('vscode');

const page = `<!doctype html><body><button>Press</button><p role="status">waiting</p><script>
const api = acquireVsCodeApi();
document.querySelector('button').onclick = () => api.postMessage('pressed');
addEventListener('message', (event) => { document.querySelector('p').textContent = event.data; });
</script></body>`;

function things(context) {
  let names = ['alpha', 'beta'];
  const changed = new vscode.EventEmitter();
  const treeDataProvider = {
    onDidChangeTreeData: changed.event,
    getChildren: () => names,
    getTreeItem: (name) => new vscode.TreeItem(name),
  };
  const poke = (poked) => {
    names = names.map((name) => (name === poked ? `${name}, poked` : name));
    changed.fire();
  };
  context.subscriptions.push(
    vscode.window.createTreeView('probe.things', { treeDataProvider }),
    vscode.commands.registerCommand('probe.poke', poke),
  );
}

exports.activate = (context) => {
  const item = vscode.window.createStatusBarItem('probe.item', vscode.StatusBarAlignment.Left, 100);
  item.text = '$(beaker) Probe idle';
  item.command = 'probe.press';
  item.show();
  const say = (text) => {
    item.text = `Probe ${text}`;
  };
  // It outlives a host that does not close its stdin: a test can see whether that happened.
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()', 'probe-child'], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  things(context);
  context.subscriptions.push(
    item,
    { dispose: () => child.stdin.end() },
    vscode.commands.registerCommand('probe.press', () => say(`pressed in ${vscode.env.language}`)),
    vscode.commands.registerCommand('probe.ask', async () => {
      say(await vscode.window.showWarningMessage('May I?', 'Allow', 'Deny'));
    }),
    vscode.commands.registerCommand('probe.pick', async () => {
      const thing = await vscode.window.showQuickPick(['one', 'two'], { placeHolder: 'Which?' });
      say(`${thing} ${await vscode.window.showInputBox({ prompt: 'Name?' })}`);
    }),
    vscode.window.registerWebviewViewProvider('probe.page', {
      resolveWebviewView({ webview }) {
        webview.options = { enableScripts: true };
        webview.html = page;
        webview.onDidReceiveMessage((message) => webview.postMessage(`${message}!`));
      },
    }),
  );
  return { trusted: vscode.workspace.isTrusted };
};
