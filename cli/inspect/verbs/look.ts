// Verbs that look at one actor, or at figures of systems. Nothing changes by them.

import type {OfSystem, Shown, StateLook} from '../../../api/inspect.js';
import {limits} from '../../../api/limits.js';
import {systemClock} from '../../../system/time/clock.js';
import {failedError, usageError} from '../../command.js';
import {drawDeadLetters} from '../dead-letters-view.js';
import {drawJournal, drawLinks, drawMailbox, drawStats} from '../looks-view.js';
import {isMemberPath, memberPathText, parseMemberPath} from '../member-path.js';
import {placeShown, root, type Place} from '../places.js';
import {resolve, resolveActor} from '../resolve.js';
import {show, viewOf} from '../printing.js';
import {differencesOf, drawDifferences} from '../state-diff.js';
import {drawSupervise} from '../supervise-view.js';
import {drawState} from '../state-view.js';
import type {Mark, Shell, VerbCall, VerbRun} from '../verb.js';

/** `[PLACE] [.PART]`. */
export function placeAndPart({spec, inputs}: VerbCall): {readonly word: string | undefined; readonly at: readonly string[]} {
	const parts = inputs.filter(isMemberPath);
	const words = inputs.filter(word => !isMemberPath(word));
	if (parts.length > 1 || words.length > 1)
		throw usageError(`${spec.name} takes one place and one part of its state, as in: ${spec.example[0]}`);
	return {word: words[0], at: parts[0] === undefined ? [] : parseMemberPath(parts[0])};
}

async function onePlace({spec, inputs, shell}: VerbCall): Promise<Place> {
	if (inputs.length > 1) throw usageError(`${spec.name} takes one place, as in: ${spec.example[0]}`);
	return resolveActor(inputs[0], shell);
}

const stateOf = (place: Place, at: readonly string[], depth: number | undefined, {session}: Shell): Promise<StateLook> =>
	session.ask({verb: 'state', place, ...(at.length === 0 ? {} : {at}), ...(depth === undefined ? {} : {depth})});

const usualDepth = 4;

export const state: VerbRun = async call => {
	const {flags, shell} = call;
	const {word, at} = placeAndPart(call);
	const depth = flags.number('depth');
	if (depth !== undefined && depth < 1) throw usageError(`--depth must be a number from 1 on, got ${depth}`);
	const place = await resolveActor(word, shell);
	// A level more: what is small there is shown in the line above.
	const look = await stateOf(place, at, depth === undefined ? undefined : depth + 1, shell);
	const mark = flags.text('mark');
	if (mark !== undefined) keepMark(mark, {place, at, atMs: systemClock.nowMs(), state: look.state}, shell);
	await show(call, look, async () => {
		const {columns, widthOf, colours} = await viewOf(call, [JSON.stringify(look.state)]);
		const title = `${colours.bold(placeShown(place))}${memberPathText(at)}  ${colours.dim(look.behavior)}\n`;
		return title + drawState(look.state, {depth: depth ?? usualDepth, columns, widthOf, colours});
	});
};

function keepMark(name: string, mark: Mark, {memory: {marks}}: Shell): void {
	marks.delete(name);
	if (marks.size >= limits.inspectMarks) throw failedError(`${limits.inspectMarks} states are marked; use one of their names again`);
	marks.set(name, mark);
}

type Side = {readonly title: string; readonly state: Shown};

/** `diff MARK`, `diff MARK MARK`, `diff MARK PLACE`, `diff PLACE PLACE`. */
export const diff: VerbRun = async call => {
	const {inputs, shell} = call;
	const [first, second, ...more] = inputs;
	if (first === undefined || more.length > 0) throw usageError('diff takes a mark, or two places, as in: diff pod/web-1 pod/web-2');
	const mark = shell.memory.marks.get(first);
	if (mark === undefined && second === undefined) throw usageError(noMark(first, shell));
	const at = mark?.at ?? [];
	const before =
		mark === undefined ? await sideOf(first, at, shell) : {title: `${placeShown(mark.place)} as "${first}"`, state: mark.state};
	const after = second === undefined ? await nowOf(mark?.place ?? root, at, shell) : await sideOf(second, at, shell);
	const differences = differencesOf(before.state, after.state);
	await show(call, {differences}, async () => {
		const {colours} = await viewOf(call);
		const title = `${colours.red(`--- ${before.title}`)}\n${colours.green(`+++ ${after.title}`)}\n`;
		if (differences.length === 0) return `${title}they are the same\n`;
		return (
			title +
			drawDifferences(differences, limits.inspectDifferences, colours)
				.map(line => `${line}\n`)
				.join('')
		);
	});
};

function noMark(name: string, {memory: {marks}}: Shell): string {
	const names = [...marks.keys()];
	return `no state is marked "${name}"${names.length === 0 ? '; state --mark NAME marks one' : `; there are ${names.join(', ')}`}; of places it takes two`;
}

async function sideOf(word: string, at: readonly string[], shell: Shell): Promise<Side> {
	const mark = shell.memory.marks.get(word);
	return mark === undefined
		? nowOf(await resolveActor(word, shell), at, shell)
		: {title: `${placeShown(mark.place)} as "${word}"`, state: mark.state};
}

async function nowOf(place: Place, at: readonly string[], shell: Shell): Promise<Side> {
	return {title: `${placeShown(place)} now`, state: (await stateOf(place, at, undefined, shell)).state};
}

export const mailbox: VerbRun = async call => {
	const look = await call.shell.session.ask({verb: 'mailbox', place: await onePlace(call)});
	await show(call, look, async () => drawMailbox(look, await viewOf(call, [JSON.stringify(look)])));
};

export const journal: VerbRun = async call => {
	const {entries} = await call.shell.session.ask({verb: 'journal', place: await onePlace(call)});
	await show(call, {entries}, async () => drawJournal(entries, await viewOf(call, [JSON.stringify(entries)])));
};

export const links: VerbRun = async call => {
	const look = await call.shell.session.ask({verb: 'links', place: await onePlace(call)});
	await show(call, look, async () => drawLinks(look, await viewOf(call, [JSON.stringify(look)])));
};

export const supervise: VerbRun = async call => {
	const look = await call.shell.session.ask({verb: 'supervise', place: await onePlace(call)});
	await show(call, look, async () => drawSupervise(look, await viewOf(call, [JSON.stringify(look)])));
};

/** What every system says where no place is given; else what that of the place says. */
async function ofSystems<Answer>(
	{inputs, shell}: VerbCall,
	one: (place: Place) => Promise<Answer>,
	all: () => Promise<readonly OfSystem<Answer>[]>,
): Promise<readonly OfSystem<Answer>[]> {
	const {place} = await resolve(inputs[0], shell);
	return place === root ? all() : [{system: place, value: await one(place)}];
}

export const stats: VerbRun = async call => {
	const {session} = call.shell;
	const systems = await ofSystems(
		call,
		place => session.ask({verb: 'stats', place}),
		() => session.askAll({verb: 'stats', place: root}),
	);
	await show(call, {systems}, async () => drawStats(systems, await viewOf(call)));
};

export const deadletters: VerbRun = async call => {
	const {session} = call.shell;
	const systems = await ofSystems(
		call,
		place => session.ask({verb: 'deadletters', place}),
		() => session.askAll({verb: 'deadletters', place: root}),
	);
	await show(call, {systems}, async () => {
		const view = await viewOf(call, [JSON.stringify(systems)]);
		const letters = systems.flatMap(one => ('value' in one ? one.value.letters : [])).toSorted((a, b) => a.atMs - b.atMs);
		const total = systems.reduce((sum, one) => sum + ('value' in one ? one.value.total : 0), 0);
		const problems = systems.flatMap(one => ('problem' in one ? [`${placeShown(one.system)}: ${one.problem}\n`] : []));
		return drawDeadLetters(letters, total, view) + problems.join('');
	});
};
