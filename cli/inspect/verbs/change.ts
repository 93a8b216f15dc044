// Verbs that change running actors. The server lets admins alone, and writes an audit log; the user is asked here before.

import {AppError} from '../../../api/errors.js';
import type {ChangeAnswer, ChangeRequest} from '../../../api/inspect.js';
import {limits} from '../../../api/limits.js';
import {systemClock} from '../../../system/time/clock.js';
import {failedError, usageError} from '../../command.js';
import {parseMessage} from '../../command-line/message.js';
import {durationOf} from '../durations.js';
import {placeShown, type Place} from '../places.js';
import {withPlaces} from '../message-text.js';
import {resolveActor} from '../resolve.js';
import {formatOf, show, viewOf} from '../printing.js';
import {drawState} from '../state-view.js';
import type {VerbCall, VerbRun} from '../verb.js';

/** Asks on a terminal; a script has to say `--yes`. */
export async function confirmed(call: VerbCall, place: Place, what: string): Promise<void> {
	const {shell, flags, spec} = call;
	if (flags.on('yes')) return;
	const {confirm} = shell;
	if (confirm === undefined) throw usageError(`${spec.name} changes a running actor; --yes says that this is meant`);
	const question = `${spec.name} ${placeShown(place)}: ${what} Admins may, and the audit log will have it. Go on? [y/N] `;
	if (!(await confirm(question))) throw failedError('nothing was changed');
}

async function change(call: VerbCall, request: ChangeRequest): Promise<void> {
	const answer = await changed(call, request);
	await show(call, answer, async () => {
		const {value, done} = answer;
		if (value === undefined) return `${withPlaces(done)}\n`;
		const view = await viewOf(call, [JSON.stringify(value)]);
		return `${view.colours.dim(withPlaces(done))}\n${drawState(value, {...view, depth: answerDepth})}`;
	});
}

const answerDepth = 4;

/** What is to crash or to begin anew has to run: one that is being restarted, as after the line before, is waited for. */
async function changed(call: VerbCall, request: ChangeRequest): Promise<ChangeAnswer> {
	const {verb, place} = request;
	const untilMs = systemClock.monotonicMs() + limits.inspectRestartMs;
	for (;;) {
		try {
			return await call.shell.session.ask(request);
		} catch (error) {
			const isRefused = error instanceof AppError && error.code === 'ERR_BAD_REQUEST' && (verb === 'kill' || verb === 'restart');
			const leftMs = Math.ceil(untilMs - systemClock.monotonicMs());
			if (!isRefused || leftMs <= 0 || !(await runsAgain(call, place, leftMs))) throw error;
		}
	}
}

/** Whether it is being restarted, and is over that within the time: a watch tells of its first step, and begins before it is looked at. */
async function runsAgain({shell: {session}, signal}: VerbCall, place: Place, withinMs: number): Promise<boolean> {
	const isRestarting = async (): Promise<boolean> => (await session.ask({verb: 'tree', place, depth: 0})).state === 'restarting';
	if (!(await isRestarting())) return false;
	for await (const {ended} of session.stream({verb: 'watch', place, forMs: withinMs}, signal))
		if (ended !== undefined || !(await isRestarting())) return ended === undefined;
	return false;
}

async function target(call: VerbCall): Promise<Place> {
	const {spec, inputs, shell} = call;
	if (inputs.length > 1) throw usageError(`${spec.name} takes one place, as in: ${spec.example[0]}`);
	return resolveActor(inputs[0], shell);
}

async function message({spec, inputs, shell}: VerbCall): Promise<{place: Place; message: ReturnType<typeof parseMessage>}> {
	const [word, text, ...more] = inputs;
	if (word === undefined || text === undefined || more.length > 0)
		throw usageError(`${spec.name} takes a place and a message, as in: ${spec.example[0]}`);
	const parsed = parseMessage(text);
	return {place: await resolveActor(word, shell), message: parsed};
}

export const tell: VerbRun = async call => {
	const {place, message: sent} = await message(call);
	await confirmed(call, place, `it gets the message "${sent.type}", as if another actor had sent it.`);
	await change(call, {verb: 'tell', place, message: sent});
};

export const ask: VerbRun = async call => {
	const deadlineMs = durationOf(call.flags.text('deadline'), '--deadline');
	const {place, message: sent} = await message(call);
	await confirmed(call, place, `it gets the message "${sent.type}", and may act on it.`);
	await change(call, {verb: 'ask', place, message: sent, ...(deadlineMs === undefined ? {} : {deadlineMs})});
};

export const pause: VerbRun = async call => {
	const forMs = durationOf(call.flags.text('for'), '--for');
	const place = await target(call);
	await confirmed(call, place, 'it takes no message until it is resumed, or the time is over.');
	await change(call, {verb: 'pause', place, ...(forMs === undefined ? {} : {forMs})});
	if (formatOf(call) === undefined && call.shell.terminal.interactive)
		call.shell.terminal.note('step lets it take one message, resume lets it go on');
};

export const step: VerbRun = async call => {
	const count = call.flags.number('count');
	if (count !== undefined && (!Number.isInteger(count) || count < 1))
		throw usageError(`--count must be a whole number from 1 on, got ${count}`);
	await change(call, {verb: 'step', place: await target(call), ...(count === undefined ? {} : {count})});
};

export const resume: VerbRun = async call => change(call, {verb: 'resume', place: await target(call)});

export const kill: VerbRun = async call => {
	const place = await target(call);
	await confirmed(call, place, 'it crashes, and its supervisor does what its strategy says.');
	await change(call, {verb: 'kill', place});
};

export const restart: VerbRun = async call => {
	const place = await target(call);
	await confirmed(call, place, 'it and all below it end and begin anew.');
	await change(call, {verb: 'restart', place});
};
