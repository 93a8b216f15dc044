// `node build/test/e2e/record-readme.js [docs/first-hour.md]`: runs the commands of the README, or of another page, and puts what they
// print in place of what it shows.
//
// For whoever changes an output, whatever user that is: the pages show what an ordinary one sees. Uses the default ports and ~/.troupe, so that what is shown is what a newcomer sees. Where the
// page leaves something out (`...`), and where a program is missing here, the block stays as it is.

import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {readme, root, stepsOf, type Step} from './_readme.js';
import {openStage} from './_stage.js';
import {walk, type Walked} from './_tour.js';

const [, , named] = process.argv;
const page = named === undefined ? readme : path.join(root, named);
const text = readFileSync(page, 'utf8');
/** How long what only looks may take to show the same as before: something may have changed, or is not there yet. */
const patienceMs = 2_000;

const stage = openStage({realCurl: true, upFlags: ['--network=shared']});
const lines: (string | undefined)[] = text.split('\n');

function record({line, shown}: Step, command: string, out: string): void {
	lines[line - 1] = `$ ${command}`;
	if (shown.includes('...')) return;
	for (let at = 0; at < shown.length; at++) lines[line + at] = undefined;
	const printed = out
		.replaceAll(stage.folder, '/home/ada')
		.replace(/[ \t]+$/gm, '')
		.trimEnd();
	// An empty line between two commands is the author's.
	const ending = shown.at(-1) === '' ? '\n' : '';
	lines[line - 1] = `$ ${command}${printed === '' ? '' : `\n${printed}`}${ending}`;
}

try {
	const seen = ({step, command, ran}: Walked): void => {
		process.stdout.write(`$ ${step.command}\n${ran.out}`);
		if ((ran.code === 0) !== step.fails) record(step, command, ran.out);
		else process.exitCode = 1;
	};
	await walk(stage, stepsOf(text), seen, patienceMs);
} finally {
	await stage.close();
}
writeFileSync(page, lines.filter(line => line !== undefined).join('\n'));
