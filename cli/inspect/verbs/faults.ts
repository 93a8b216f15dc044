// Faults that somebody wants: made, listed, ended. The process of a system has to have been started with `--faults`.

import {ageOf} from '../../../api/duration.js';
import {AppError} from '../../../api/errors.js';
import type {Fault, FaultsLook, OfSystem} from '../../../api/inspect.js';
import {limits} from '../../../api/limits.js';
import {didYouMean} from '../../../api/suggest.js';
import {usageError} from '../../command.js';
import {inOneLine} from '../../screen/table.js';
import {durationOf} from '../durations.js';
import {faultWords} from '../fault-words.js';
import {placeOfAddress, placeShown, root, type Place} from '../places.js';
import {resolveActor} from '../resolve.js';
import {show} from '../printing.js';
import type {VerbCall, VerbRun} from '../verb.js';

type Word = (typeof faultWords)[number];

const isWord = (word: string): word is Word => faultWords.some(each => each === word);

export const fault: VerbRun = async call => {
	const {inputs, spec} = call;
	const [word = 'list', place, ...more] = inputs;
	if (!isWord(word)) throw usageError(`fault takes ${faultWords.join(', ')}, got "${word}"${didYouMean(word, faultWords)}`);
	if (word === 'list' && place !== undefined) throw usageError('fault list is of all places');
	if (more.length > 0) throw usageError(`fault takes one place, as in: ${spec.example[0]}`);
	if (word === 'list') return list(call);
	if (word === 'end') return end(call, place);
	if (place === undefined && call.shell.memory.here === root)
		throw usageError(
			`fault ${word} takes ${word === 'partition' ? 'a node, as in: fault partition node-a' : `a place, as in: fault ${word} rs/web`}`,
		);
	const made = faultOf(word, call);
	const forMs = boundedOf(call.flags.text('for'), '--for', limits.faultMostMs);
	const at = await resolveActor(place, call.shell);
	const target = word === 'partition' ? systemOf(at) : at;
	const answer = await call.shell.session.ask({verb: 'fault', place: target, fault: made, ...(forMs === undefined ? {} : {forMs})});
	await show(call, answer, () => `${inOneLine(withPlace(answer.done))}\n`);
};

/** `vm/pods: …` for `troupe://vm/pods: …`. */
const withPlace = (done: string): string => done.replace(/^troupe:\/\/\S*(?=: )/, found => placeOfAddress(found));

/** A length of time up to the most that is taken. Throws ERR_USAGE. */
function boundedOf(text: string | undefined, flag: string, mostMs: number): number | undefined {
	const ms = durationOf(text, flag);
	if (ms !== undefined && (ms < 1 || ms > mostMs)) throw usageError(`${flag} is at most ${ageOf(mostMs)}, got "${text ?? ''}"`);
	return ms === undefined ? undefined : Math.round(ms);
}

/** Of a Node's record the node is meant. */
function systemOf(place: Place): Place {
	const [system, collection, name, ...below] = place.split('/');
	return system === 'control' && collection === 'nodes' && name !== undefined && below.length === 0 ? name : place;
}

function faultOf(type: Exclude<Word, 'list' | 'end'>, {flags}: VerbCall): Fault {
	const delay = flags.text('delay');
	const share = flags.text('share');
	if (delay !== undefined && type !== 'slow') throw usageError('--delay is of slow: by how much each step begins later');
	if (share !== undefined && type !== 'drop') throw usageError('--share is of drop: how many of the messages are lost');
	switch (type) {
		case 'slow':
			return {type, ms: boundedOf(delay ?? '1s', '--delay', limits.faultSlowMs) ?? 0};
		case 'drop':
			return {type, share: shareOf(share ?? '100%')};
		case 'crash':
		case 'partition':
		case 'pause':
			return {type};
	}
}

/** `50%` or `0.5`. */
function shareOf(text: string): number {
	const [, number, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
	const share = Number(number) / (percent === '%' ? 100 : 1);
	if (number === undefined || !(share > 0 && share <= 1))
		throw usageError(`--share must be above 0 and up to 1, such as 0.5 or 50%, got "${text}"`);
	return share;
}

async function list(call: VerbCall): Promise<void> {
	const answers = await call.shell.session.askAll({verb: 'faults', place: ''});
	await show(call, {systems: answers}, () => drawFaults(answers));
}

const faultsIn = (answer: OfSystem<FaultsLook>): FaultsLook['faults'] => ('value' in answer ? answer.value.faults : (answer.faults ?? []));

export function drawFaults(answers: readonly OfSystem<FaultsLook>[]): string {
	const width = Math.max(0, ...answers.flatMap(answer => faultsIn(answer).map(({address}) => placeShown(placeOfAddress(address)).length)));
	const lines = answers.flatMap(answer => {
		const faults = faultsIn(answer);
		if ('problem' in answer && faults.length === 0) return [`${inOneLine(answer.system)}: ${inOneLine(answer.problem)}`];
		return faults.map(({address, text}) => `${placeShown(placeOfAddress(address)).padEnd(width)}  ${inOneLine(text)}`);
	});
	const forbidden = answers.flatMap(answer => ('value' in answer && !answer.value.areAllowed ? [inOneLine(answer.system)] : []));
	const without = `none are made in ${forbidden.join(', ')}: started without --faults`;
	return [...(lines.length === 0 ? ['no fault is on'] : lines), ...(forbidden.length === 0 ? [] : [without])]
		.map(line => `${line}\n`)
		.join('');
}

/** Of one place, or of every system that has some. What cannot be reached is told when the rest is done, as an error. */
async function end(call: VerbCall, word: string | undefined): Promise<void> {
	const {session} = call.shell;
	const {places, silent} = word === undefined ? await withFaults(call) : {places: [await resolveActor(word, call.shell)], silent: []};
	const done: {readonly place: Place; readonly done: string}[] = [];
	for (const place of places) done.push({place, ...(await session.ask({verb: 'heal', place}))});
	if (done.length > 0 || silent.length === 0)
		await show(call, {ended: done}, () =>
			done.length === 0 ? 'no fault is on\n' : done.map(each => `${placeShown(each.place)}: ${inOneLine(each.done)}\n`).join(''),
		);
	if (silent.length > 0) throw new AppError('ERR_NOT_REACHABLE', {message: silent.join('\n')});
}

type WithFaults = {readonly places: readonly Place[]; readonly silent: readonly string[]};

async function withFaults({shell: {session}}: VerbCall): Promise<WithFaults> {
	const answers = await session.askAll({verb: 'faults', place: ''});
	return {
		places: answers.flatMap(answer => ('value' in answer && answer.value.faults.length > 0 ? [answer.system] : [])),
		silent: answers.flatMap(answer => {
			if ('value' in answer) return [];
			return [answer.faults === undefined ? `${answer.problem}; if it has faults, they end by themselves` : answer.problem];
		}),
	};
}
