/**
 * How the browser is started. Pages come to it through our own visits alone (page-load.ts), so it has no way of its own to the
 * network: names resolve to nothing, and what goes past names and requests (datagrams of WebRTC, QUIC) is shut.
 */
import type { Browser } from 'playwright-core';
import { markFolder, processIdOf, removeLeftFolders } from './browser-processes.ts';

export interface Started {
  readonly browser: Browser;
  readonly processId: number | undefined;
}

/** Chromium's sandbox does not start for root, nor where a container allows no namespaces of one's own; everywhere else pages run in it. */
export async function launch(executablePath: string, heapMegabytes: number): Promise<Started> {
  const { chromium } = await import('playwright-core');
  await removeLeftFolders().catch(() => {});
  const options = launchOptions(executablePath, heapMegabytes);
  const bare = () => chromium.launch({ ...options, chromiumSandbox: false });
  const isRoot = process.getuid?.() === 0;
  const browser = await (isRoot ? bare() : chromium.launch({ ...options, chromiumSandbox: true }).catch(bare));
  await markFolder(browser).catch(() => {});
  return { browser, processId: await processIdOf(browser).catch(() => undefined) };
}

function launchOptions(executablePath: string, heapMegabytes: number) {
  return {
    // Else the browser's own listeners end the whole process at Ctrl-C, before anything was put away.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    executablePath,
    headless: true,
    // Windows that nobody asked for are the browser's own to refuse.
    ignoreDefaultArgs: ['--disable-popup-blocking'],
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
      '--host-resolver-rules=MAP * ~NOTFOUND',
      // One setting under two names: which of them a browser heeds depends on how it was built.
      '--webrtc-ip-handling-policy=disable_non_proxied_udp',
      '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
      `--js-flags=--max-old-space-size=${heapMegabytes}`,
    ],
  };
}

/** Runs in every frame before its own scripts; workers never had it. A second wall, should a browser heed neither setting. */
export const withoutDatagrams = `delete globalThis.RTCPeerConnection; delete globalThis.webkitRTCPeerConnection;`;
