// `node build/test/e2e/record-readme.js`: runs the commands of the README and puts what they print in place of what it shows.
//
// For whoever changes an output. Uses the default ports and ~/.troupe, so that what is shown is what a newcomer sees. Where the
// README leaves something out (`...`), and where a program is missing here, the block stays as it is.

import {readFileSync, writeFileSync} from 'node:fs';
import {readme, stepsOf, type Step} from './_readme.js';
import {openStage} from './_stage.js';
import {walk} from './_tour.js';

const text = readFileSync(readme, 'utf8');
const stage = openStage({realCurl: true, upFlags: []});
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
	await walk(stage, stepsOf(text), ({step, command, ran}) => {
		process.stdout.write(`$ ${step.command}\n${ran.out}`);
		if (ran.code === 0) record(step, command, ran.out);
		else process.exitCode = 1;
	});
} finally {
	await stage.close();
}
writeFileSync(readme, lines.filter(line => line !== undefined).join('\n'));
