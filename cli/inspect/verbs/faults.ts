// Faults that somebody wants: made, listed, ended. The process of a system has to have been started with `--faults`.

import type {Fault, FaultsLook, OfSystem} from '../../../api/inspect.js';
import {didYouMean} from '../../../api/suggest.js';
import {usageError, failedError} from '../../command.js';
import {inOneLine} from '../../screen/table.js';
import {durationOf} from '../durations.js';
import {faultWords} from '../fault-words.js';
import {placeShown} from '../looks-view.js';
import {placeOfAddress, type Place} from '../places.js';
import {resolveActor} from '../resolve.js';
import {show} from '../shown.js';
import type {VerbCall, VerbRun} from '../verb.js';

type Word = (typeof faultWords)[number];

const isWord = (word: string): word is Word => faultWords.some(each => each === word);

export const fault: VerbRun = async call => {
	const {inputs, spec} = call;
	const [word = 'list', place, ...more] = inputs;
	if (!isWord(word)) throw usageError(`fault takes ${faultWords.join(', ')}, got "${word}"${didYouMean(word, faultWords)}`);
	if (more.length > 0 || (word === 'list' && place !== undefined)) throw usageError(`fault takes one place, as in: ${spec.example[0]}`);
	if (word === 'list') return list(call);
	if (word === 'end') return end(call, place);
	const made = faultOf(word, call);
	const forMs = durationOf(call.flags.text('for'), '--for');
	const at = await resolveActor(place, call.shell);
	const target = word === 'partition' ? systemOf(at) : at;
	const answer = await call.shell.session.ask({verb: 'fault', place: target, fault: made, ...(forMs === undefined ? {} : {forMs})});
	await show(call, answer, () => `${inOneLine(answer.done)}\n`);
};

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
			return {type, ms: durationOf(delay ?? '1s', '--delay') ?? 0};
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

export function drawFaults(answers: readonly OfSystem<FaultsLook>[]): string {
	const lines = answers.flatMap(answer => {
		if ('problem' in answer) return [`${inOneLine(answer.system)}: ${inOneLine(answer.problem)}`];
		return answer.value.faults.map(({address, text}) => `${placeShown(placeOfAddress(address))}  ${inOneLine(text)}`);
	});
	const forbidden = answers.flatMap(answer => ('value' in answer && !answer.value.areAllowed ? [inOneLine(answer.system)] : []));
	const without = `none are made in ${forbidden.join(', ')}: started without --faults`;
	return [...(lines.length === 0 ? ['no fault is on'] : lines), ...(forbidden.length === 0 ? [] : [without])]
		.map(line => `${line}\n`)
		.join('');
}

/** Of one place, or of every system that has some. */
async function end(call: VerbCall, word: string | undefined): Promise<void> {
	const {session} = call.shell;
	const places = word === undefined ? await placesWithFaults(call) : [await resolveActor(word, call.shell)];
	const done: {readonly place: Place; readonly done: string}[] = [];
	for (const place of places) done.push({place, ...(await session.ask({verb: 'heal', place}))});
	await show(call, {ended: done}, () =>
		done.length === 0 ? 'no fault is on\n' : done.map(each => `${placeShown(each.place)}: ${inOneLine(each.done)}\n`).join(''),
	);
}

async function placesWithFaults({shell: {session}}: VerbCall): Promise<readonly Place[]> {
	const answers = await session.askAll({verb: 'faults', place: ''});
	const silent = answers.flatMap(answer => ('problem' in answer ? [`${answer.system}: ${answer.problem}`] : []));
	if (silent.length > 0) throw failedError(`${silent.join('; ')}; its faults end by themselves. Those of others end with: fault end PLACE`);
	return answers.flatMap(answer => ('value' in answer && answer.value.faults.length > 0 ? [answer.system] : []));
}
