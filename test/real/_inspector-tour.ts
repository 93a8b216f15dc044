// A session with the inspector on a real terminal, as docs/inspector.md shows it: a server, a node on a host of its own, a pod there. The test
// looks whether it goes so; `record-inspector.ts` puts what the screen showed into the page.

import {openAgent, openServer, type Agent, type Server} from '../e2e/_hosts.js';
import {podOf} from '../../bench/rigs/cluster/manifests.js';
import type {Owner} from '../../bench/rigs/owner.js';
import {openTerminal, type Terminal} from './_terminal.js';

export type Tour = {
	readonly server: Server;
	readonly agent: Agent;
	readonly terminal: Terminal;
	/** Types a line, waits until the screen shows this below it, and keeps what the screen shows then under that name. */
	readonly line: (name: string, text: string, wanted: RegExp) => Promise<string>;
	/** Keeps what the screen shows now. */
	readonly keep: (name: string) => string;
	/** An empty screen with the prompt of the inspector. */
	readonly clear: () => Promise<void>;
	/** By name: what was shown. */
	readonly shown: ReadonlyMap<string, string>;
};

/** The prompt of the inspector, at the end of the screen. */
export const atPrompt = /^\S*> $/m;

export async function openTour(owner: Owner, columns: number): Promise<Tour> {
	const server = await openServer(owner);
	const agent = await openAgent(owner, [server.api()], await server.joinToken(), 'host-1');
	await server.apply(podOf('web', ['sleep', '100000']));
	await server.fine('wait', 'pod/web', '--for', 'condition=Ready');
	const terminal = await openTerminal(owner, server.home, {columns, rows: 40});
	const shown = new Map<string, string>();
	const screen = (): string => terminal.lines().join('\n');
	const tour: Tour = {
		server,
		agent,
		terminal,
		shown,
		keep(name) {
			shown.set(name, screen());
			return screen();
		},
		async line(name, text, wanted) {
			terminal.type(`${text}\n`);
			await terminal.until(`${name}: ${wanted.source}`, lines => wanted.test(lines.join('\n')) && /^\S*>$/.test(lines.at(-1) ?? ''));
			return tour.keep(name);
		},
		async clear() {
			terminal.key('C-l');
			await terminal.until('an empty screen', lines => lines.length === 1 && /^\S*>$/.test(lines[0] ?? ''));
		},
	};
	return tour;
}

/** Looks into the mailbox until something waits there. */
async function waits({terminal, line}: Tour): Promise<void> {
	for (;;) {
		const screen = await line('mailbox', 'mailbox', /^(next first:|the mailbox is empty)$/m);
		if (screen.includes('next first:')) return;
		terminal.key('C-l');
		await terminal.until('an empty screen', lines => lines.length === 1);
	}
}

/** The session, from the first look to a host that dies. Throws where the screen does not show what it should. */
export async function walk(tour: Tour): Promise<void> {
	const {terminal, server, agent, line, keep, clear} = tour;
	terminal.type('troupe repl\n');
	await terminal.until('a prompt', lines => lines.at(-1) === '/>');
	await line('tree', 'tree', /^host-1\n[^]*web {2}127/m);
	await clear();
	terminal.type('cd contr');
	terminal.key('Tab');
	await terminal.shows(/^\/> cd control$/m);
	terminal.type('/pods/d');
	terminal.key('Tab');
	await terminal.shows(/^\/> cd control\/pods\/default\.web$/m);
	terminal.key('Enter');
	await terminal.until('its prompt', lines => lines.at(-1) === 'control/pods/default.web>');
	await line('state', 'state .object.status --depth 2', /^phase: "Running"$/m);
	await clear();
	await line('links', 'links', /^supervisor +control\/pods$/m);
	await line('supervise', 'supervise', /^intensity +3 restarts within 60s, 3 left$/m);
	await clear();

	terminal.type('kill\n');
	await terminal.shows(/Go on\? \[y\/N\]$/m);
	await line('killed', 'y', /has crashed$/m);
	await line('crashed', 'supervise', /^last crash +\d+s ago: killed by an inspector$/m);
	await clear();

	await line('paused', 'pause --yes', /unless it is resumed/);
	const annotated = server.troupe('annotate', 'pod', 'web', 'note=one');
	await waits(tour);
	await line('stepped', 'step', /takes one message/);
	await line('resumed', 'resume', /goes on/);
	await annotated;
	await clear();

	terminal.type('trace pod/web\n');
	await terminal.shows(/^tracing control\/pods\/default\.web, host-1\/pods\/default\.web; Ctrl-C ends it$/m);
	await server.fine('annotate', 'pod', 'web', `note=two`, '--overwrite');
	await terminal.shows(/host-1\/pods\/default\.web[^]*deltaTaken/);
	terminal.key('C-c');
	await terminal.until('the prompt', lines => lines.at(-1) === 'control/pods/default.web>');
	keep('trace');
	await clear();

	terminal.type('trace pod/web --for 5m\n');
	await terminal.shows(/Ctrl-C ends it$/m);
	await agent.killIt();
	await terminal.shows(/^host-1: /m);
	keep('lost');
	terminal.key('C-c');
	await terminal.until('the prompt', lines => lines.at(-1) === 'control/pods/default.web>');
	await clear();
	terminal.type('exit\n');
	await terminal.until('the shell', lines => lines.at(-1) === '$');
}
