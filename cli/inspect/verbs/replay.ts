// `replay`: recorded steps, played again here, without a cluster: the states in between, and what is another now.

import type {Shown} from '../../../api/inspect.js';
import {limits} from '../../../api/limits.js';
import {shown as shownText} from '../../../api/shown.js';
import type {Json} from '../../../api/object.js';
import {decode} from '../../../system/inspect/portable.js';
import type {Behaviors} from '../../../system/inspect/replay.js';
import {isReplayable} from '../../../system/inspect/step-record.js';
import {shownOf} from '../../../system/inspect/shown.js';
import {loadUserModule} from '../../actor-run/user-module.js';
import {systemClock} from '../../../system/time/clock.js';
import {within} from '../../../system/time/within.js';
import {failedError, usageError} from '../../command.js';
import {readFileAt, reasonOf} from '../../files/bounded-file.js';
import {inOneLine} from '../../screen/table.js';
import {placeOfAddress, placeShown} from '../places.js';
import {ownBehaviors, recordsOf, replayed, type ReplayedStep} from '../replay.js';
import {formatOf, showEntry, viewOf} from '../printing.js';
import {differencesOf, drawDifferences} from '../state-diff.js';
import {drawState, type StateView} from '../state-view.js';
import type {VerbCall, VerbRun} from '../verb.js';

type Part = 'state' | 'effects' | 'diff';

export const replay: VerbRun = async call => {
	const {flags, shell} = call;
	const number = flags.number('step');
	const modules = flags.texts('behaviors');
	const behaviors = await behaviorsOf(modules);
	const steps = replayed(recordsOf(await traceOf(call)), behaviors);
	if (number !== undefined && (!Number.isInteger(number) || number < 1 || number > steps.length))
		throw usageError(`--step must be one of the ${steps.length} steps of the trace, got ${number}`);
	const chosen = number === undefined ? steps : steps.slice(number - 1, number);
	const format = formatOf(call);
	if (format !== undefined) {
		for (const step of chosen) await showEntry(call, format, plainOf(step));
		return refuseNone(chosen, behaviors, modules);
	}
	const view: StateView = {...(await viewOf(call, ['→'])), depth: statesDepth};
	const part = (flags.text('show') ?? 'diff') as Part;
	const text = chosen.map(step => drawStep(step, number === undefined ? part : (flags.text('show') as Part | undefined), view)).join('');
	const isPlayed = chosen.some(({type}) => type === 'played');
	await shell.page(`${text}${isPlayed && number === undefined ? `${summaryOf(steps, behaviors)}\n` : ''}`);
	refuseNone(chosen, behaviors, modules);
};

/** @throws AppError where nothing was played, with what is missing. */
function refuseNone(chosen: readonly ReplayedStep[], behaviors: Behaviors, modules: readonly string[]): void {
	if (chosen.some(({type}) => type === 'played')) return;
	const missing = missingOf(chosen, behaviors);
	const none = chosen.length === 1 ? 'the step could not be played' : `none of the ${chosen.length} steps could be played`;
	if (missing.length === 0) throw failedError(`${none}: beside each is why`);
	const hint =
		modules.length === 0
			? `name the module that has ${missing.length === 1 ? 'it' : 'them'} with ${behaviorsHint}`
			: `${modules.join(', ')} has other behaviours; rename it there, or name another module`;
	throw failedError(`${none}: no behaviour called ${missing.join(', ')} is here; ${hint}`);
}

/** The behaviours that steps could not be played for, since they are not here. */
const missingOf = (steps: readonly ReplayedStep[], behaviors: Behaviors): readonly string[] => [
	...new Set(
		steps.flatMap(({type, record}) =>
			type === 'skipped' && isReplayable(record) && !Object.hasOwn(behaviors, record.behavior) ? [shownText(record.behavior)] : [],
		),
	),
];

const behaviorsHint = '--behaviors FILE, as in: replay trace.jsonl --behaviors shop.mjs';

/** Levels of states and effects that are unfolded. */
const statesDepth = 4;

/** A file, or in a shell that of its last trace. */
async function traceOf({inputs, spec, shell}: VerbCall): Promise<string> {
	const [file = shell.memory.recorded, ...more] = inputs;
	if (more.length > 0) throw usageError(`replay takes one file, as in: ${spec.example[0]}`);
	if (file === undefined) throw usageError('name the file of a trace; trace PLACE --record FILE makes one');
	try {
		return new TextDecoder().decode(await readFileAt(file, limits.recordFileBytes));
	} catch (error) {
		throw usageError(`${file} cannot be read: ${reasonOf(error)}`);
	}
}

/** Those of this package, and of each module that is named; what two modules have is that of the last. */
async function behaviorsOf(modules: readonly string[]): Promise<Behaviors> {
	const loaded: Behaviors[] = [await ownBehaviors()];
	for (const file of modules) loaded.push((await withinTime(file, loadUserModule(file))).behaviors);
	return Object.assign({}, ...loaded) as Behaviors;
}

/** What a module does when it is imported is its own, and may never end. */
async function withinTime<Result extends object>(file: string, work: Promise<Result>): Promise<Result> {
	const loaded = await within(systemClock, loadMs, work);
	if (loaded !== undefined) return loaded;
	throw failedError(
		`${file} is not loaded after ${loadMs / 1_000} s: what it does when it is imported, such as a top-level await, does not end`,
	);
}

const loadMs = 10_000;

function plainOf(step: ReplayedStep): object {
	const {number, record} = step;
	const of = {step: number, address: record.address, behavior: record.behavior};
	if (step.type === 'skipped') return {...of, skipped: step.why};
	const {isSame, call, result, recorded, notes} = step;
	return {...of, isSame, call: call.type, result, ...(isSame ? {} : {recorded}), notes};
}

/** Without a part a step is shown whole. */
function drawStep(step: ReplayedStep, part: Part | undefined, view: StateView): string {
	const {colours} = view;
	const {number, record} = step;
	const place = placeShown(placeOfAddress(record.address));
	const head = `${String(number).padStart(4)}  ${colours.bold(place)}  `;
	if (step.type === 'skipped') return `${head}${colours.yellow(`not played: ${inOneLine(step.why)}`)}\n`;
	const {result, recorded, isSame, notes} = step;
	const word = colours.cyan(inOneLine(wordOf(step)));
	const fate = isSame ? colours.dim('as recorded') : colours.red('ANOTHER NOW');
	const lines = [
		`${head}${word}  ${fate}${result.error === undefined ? '' : colours.red(`  throws: ${inOneLine(result.error)}`)}`,
		...notes.map(note => `      ${colours.yellow(inOneLine(note))}`),
		...(part === undefined ? ['      message', ...indented(drawState(shownOf(step.call), view))] : []),
		...(part === undefined || part === 'diff' ? differing(step, view) : []),
		...(part === undefined ? stateOf(step, view) : []),
		...(part === 'state' ? indented(drawState(shownOfJson(result.state), view)) : []),
		...(part === undefined || part === 'effects' ? ['      effects', ...indented(drawState(shownOfJson(result.effects), view))] : []),
		...((part === undefined || part === 'effects') && !isSame
			? ['      effects when it was recorded', ...indented(drawState(shownOfJson(recorded.effects), view))]
			: []),
	];
	return lines.map(line => `${line}\n`).join('');
}

/** The state before, whole, and what the step made of it. */
function stateOf({before, result}: Extract<ReplayedStep, {type: 'played'}>, view: StateView): readonly string[] {
	const changes = changesOf(before, result.state, view);
	return [
		'      state before',
		...indented(drawState(shownOfJson(before), view)),
		...(changes.length === 0 ? ['      state after: the same'] : ['      state after: before → after', ...changes]),
	];
}

/** What was recorded → what it is now. */
function differing({isSame, result, recorded}: Extract<ReplayedStep, {type: 'played'}>, view: StateView): readonly string[] {
	if (isSame) return [];
	const {colours} = view;
	const states = changesOf(recorded.state, result.state, view);
	const effects = changesOf(recorded.effects, result.effects, view);
	return [
		...(recorded.error === result.error
			? []
			: [`      ${colours.yellow('~')} it threw: ${inOneLine(recorded.error ?? 'nothing')} → ${inOneLine(result.error ?? 'nothing')}`]),
		...(states.length === 0 ? [] : ['      state: recorded → now', ...states]),
		...(effects.length === 0 ? [] : ['      effects: recorded → now', ...effects]),
		...(recorded.stop === result.stop ? [] : [`      ${colours.yellow('~')} it ends: ${String(recorded.stop)} → ${String(result.stop)}`]),
	];
}

const changesOf = (before: Json, after: Json, {colours}: StateView): readonly string[] =>
	drawDifferences(differencesOf(shownOfJson(before), shownOfJson(after)), limits.inspectDifferences, colours).map(
		line => `        ${line}`,
	);

const shownOfJson = (json: Json): Shown => shownOf(decode(json));

const indented = (text: string): readonly string[] =>
	text
		.split('\n')
		.filter(line => line !== '')
		.map(line => `        ${line}`);

function wordOf({call}: Extract<ReplayedStep, {type: 'played'}>): string {
	switch (call.type) {
		case 'receive':
			return call.message.type;
		case 'signal':
			return `signal ${call.signal.type}`;
		case 'init':
		case 'resume':
		case 'park':
		case 'meanwhile':
		case 'unpark':
			return call.type;
	}
}

function summaryOf(steps: readonly ReplayedStep[], behaviors: Behaviors): string {
	const played = steps.filter(step => step.type === 'played');
	const others = played.filter(step => !step.isSame);
	const skipped = steps.length - played.length;
	const first = others[0];
	const whole = first === undefined ? '' : ` (--step ${first.number} shows it whole)`;
	const verdict = first === undefined ? 'all as they were recorded' : `${others.length} another now, the first is ${first.number}${whole}`;
	const missing = missingOf(steps, behaviors);
	const lacks = missing.length === 0 ? '' : `, for ${missing.join(', ')} ${behaviorsHint}`;
	const left = skipped === 0 ? '' : `; ${skipped} not played${lacks}`;
	return `${played.length} steps played: ${verdict}${left}`;
}
