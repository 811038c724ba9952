import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';

/** Says of a file of another machine that it is not opened here. */
export function tellElsewhere(path: string, hostName: string): void {
  void vscode.window.showInformationMessage(
    l10n.t('{0} is on “{1}”, not on this machine, so it is not opened here.', path, hostName),
  );
}
