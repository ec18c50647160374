// What this client can do beyond the protocol.

import type { ClientCapabilities, DocumentSelector, InitializeParams, StaticFeature } from 'vscode-languageclient/node';

export const SHOW_REPORT = 'fencepost.showReport';
export const SHOW_TIMELINE = 'fencepost.showTimeline';
export const SHOW_IR = 'fencepost.showIr';
export const SHOW_LINKED = 'fencepost.showLinked';

/** Tells the server that its code lenses can be run, and that the status of kernels and the end of runs are shown. */
export class OwnFeatures implements StaticFeature {
  fillInitializeParams(_params: InitializeParams): void {}
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const commands = { commands: [SHOW_REPORT, SHOW_TIMELINE, SHOW_IR, SHOW_LINKED] };
    capabilities.experimental = { ...capabilities.experimental, commands, fencepostStatus: true };
  }
  initialize(_capabilities: unknown, _selector: DocumentSelector | undefined): void {}
  getState(): { kind: 'static' } {
    return { kind: 'static' };
  }
  clear(): void {}
}
