// The page of a panel: what comes from the server, under a policy that runs and loads nothing else.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as vscode from 'vscode';

/** A part of a page, as the server makes it. */
export interface Fragment {
  html: string;
  style: string;
  script: string;
}

const NAMED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A text as HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => NAMED[sign] as string);
}

/** A sentence as HTML: what stands between backquotes is code. */
export function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}

/** Where the files of pages are. */
export function mediaFolder(extensionPath: string): vscode.Uri {
  return vscode.Uri.file(join(extensionPath, 'media'));
}

/**
 * A page with `body` and a fragment of the server's below it. `state` is what the page remembers over a reload of the
 * window; `script` is a file of `media/`.
 */
export function pageOf(
  webview: vscode.Webview,
  media: vscode.Uri,
  parts: { title: string; body: string; fragment?: Fragment; script: string; state: unknown },
): string {
  const nonce = randomBytes(18).toString('base64');
  const file = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
  const { title, body, fragment, state } = parts;
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  // Nothing ends the element early.
  const known = JSON.stringify(state).replace(/</g, '\\u003c');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)}</title>
<style nonce="${nonce}">${fragment?.style ?? ''}</style>
<link nonce="${nonce}" rel="stylesheet" href="${file('panel.css')}">
</head>
<body>
${body}
${fragment?.html ?? ''}
<script nonce="${nonce}" type="application/json" id="state">${known}</script>
<script nonce="${nonce}" src="${file('panel.js')}"></script>
<script nonce="${nonce}" src="${file(parts.script)}"></script>
<script nonce="${nonce}">${fragment?.script ?? ''}</script>
</body>
</html>`;
}
