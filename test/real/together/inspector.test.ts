// The inspector's shell as a person has it: a real terminal, Tab, Ctrl-C, a pager, a narrow and a wide screen, a host that dies.

import {readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {root} from '../../e2e/_readme.js';
import {openTour, walk} from '../_inspector-tour.js';

const page = readFileSync(path.join(root, 'docs/inspector.md'), 'utf8');

for (const columns of [80, 200])
	test.serial(`a session on ${columns} columns goes as docs/inspector.md shows it`, async t => {
		const tour = await openTour(t, columns);
		await walk(tour);
		// A question may wrap; what is drawn never does.
		for (const name of ['tree', 'state', 'supervise', 'mailbox', 'trace', 'lost'])
			for (const line of (tour.shown.get(name) ?? '').split('\n')) t.true([...line].length < columns, `${name}: ${line}`);
		for (const [, name = ''] of page.matchAll(new RegExp(`^\`\`\`text session:(\\w+)-${columns}$`, 'gm')))
			t.true(tour.shown.has(name), `${name} is shown in docs/inspector.md`);
		t.regex(tour.shown.get('trace') ?? '', /└ host-1\/sync/);
		t.is(statSync(path.join(tour.server.home, 'repl-history')).mode & 0o777, 0o600);
	});

test.serial('the pager has Ctrl-C while it is there; a server that comes back is told, and the shell goes on', async t => {
	const {terminal, server} = await openTour(t, 80);
	terminal.resize(80, 12);
	terminal.type('troupe repl\n');
	await terminal.until('a prompt', lines => lines.at(-1) === '/>');
	terminal.type('tree --all\n');
	await terminal.until('the pager', lines => lines.at(-1) === ':');
	terminal.key('C-c');
	// less loses a key that comes before it has taken the interrupt: one that may be pressed again tells when it takes keys.
	await terminal.until('the end of the text', lines => {
		if (lines.at(-1) === '(END)') return true;
		terminal.type('G');
		return false;
	});
	terminal.type('q');
	await terminal.until('the prompt again', lines => lines.at(-1) === '/>');
	await server.killIt();
	await terminal.shows(/^the connection is lost/m);
	terminal.type('ls\n');
	terminal.key('C-c');
	await terminal.until('the prompt, and no answer', lines => lines.at(-2) === '/> ls' && lines.at(-1) === '/>');
	await server.restart();
	await terminal.shows(/^connected again: https:/m);
	terminal.type('pwd\n');
	const screen = await terminal.until('an answer', lines => lines.at(-2) === '/' && lines.at(-1) === '/>');
	t.is(screen.at(-3), '/> pwd');
	terminal.type('dea\t\t');
	await terminal.until('what two Tabs at once complete', lines => lines.at(-1) === '/> deadletters');
});
