// A whole run in virtual time, with answers that are given beforehand: what a workflow does, tried without a cluster. Pure.

import type {Definition} from '../../api/states-language/definition.js';
import type {StateError} from '../../api/states-language/errors.js';
import type {Tools} from '../../api/states-language/tools.js';
import type {Json} from '../../api/object.js';
import type {Frame, RunCommand, RunEnding, RunEvent, RunHead, RunNews, RunView, Step, Tally} from './run.js';
import {beginRun, stepRun, type NewRun} from './step.js';
import {timeLine, type TimeLine} from './time-line.js';

/** A call of a task, as whoever answers sees it. */
export type Call = Extract<RunCommand, {type: 'callTask'}>;

export type Answer = {readonly seconds: number} & (
	| {readonly output: Json}
	| {readonly error: StateError}
	/** It never answers. */
	| {readonly silent: true}
);

export type Rehearsal = {
	readonly definition: Definition;
	readonly run: NewRun;
	readonly startMs: number;
	readonly tools: Tools;
	readonly answer: (call: Call) => Answer;
	/** It is given up after so many. */
	readonly stepsMax: number;
};

export type TimedNews = RunNews & {readonly atMs: number};

export type Rehearsed = {
	/** Undefined where it was given up: after too many steps, or with nothing more to come. */
	readonly ending: RunEnding | undefined;
	readonly steps: number;
	readonly news: readonly TimedNews[];
	/** What is left of it: nothing, once it has ended. */
	readonly frames: ReadonlyMap<string, Frame>;
	readonly tallies: ReadonlyMap<string, Tally>;
};

type Under = {
	head: RunHead;
	readonly frames: Map<string, Frame>;
	readonly tallies: Map<string, Tally>;
	readonly news: TimedNews[];
	readonly coming: TimeLine<RunEvent>;
};

/** Runs it to its end. */
export function rehearse(rehearsal: Rehearsal): Rehearsed {
	const {definition, run, startMs, tools, stepsMax} = rehearsal;
	const first = beginRun(definition, run, {nowMs: startMs, tools});
	const under: Under = {head: first.head, frames: new Map(), tallies: new Map(), news: [], coming: timeLine()};
	apply(rehearsal, under, first, startMs);
	let steps = 1;
	for (; under.head.ending === null && steps < stepsMax; steps++) {
		const next = under.coming.next();
		if (next === undefined) break;
		const view: RunView = {head: under.head, frame: id => under.frames.get(id), tally: id => under.tallies.get(id)};
		apply(rehearsal, under, stepRun(definition, view, next.value, {nowMs: next.atMs, tools}), next.atMs);
	}
	return {ending: under.head.ending ?? undefined, steps, news: under.news, frames: under.frames, tallies: under.tallies};
}

function apply(rehearsal: Rehearsal, under: Under, step: Step, nowMs: number): void {
	under.head = step.head ?? under.head;
	keep(under.frames, step.frames);
	keep(under.tallies, step.tallies);
	under.news.push(...step.news.map(each => ({...each, atMs: nowMs})));
	for (const command of step.commands) carryOut(rehearsal, under, command, nowMs);
}

function keep<Record>(kept: Map<string, Record>, changes: ReadonlyMap<string, Record | null>): void {
	for (const [id, record] of changes) {
		if (record === null) kept.delete(id);
		else kept.set(id, record);
	}
}

function carryOut({answer}: Rehearsal, {coming}: Under, command: RunCommand, nowMs: number): void {
	switch (command.type) {
		case 'continue':
			return coming.add(nowMs, {type: 'continued', frame: command.frame});
		case 'startTimer':
			return coming.add(command.atMs, {type: 'timerFired', timer: command.timer});
		case 'callTask': {
			const given = answer(command);
			const event = eventOf(command.key, given);
			if (event !== undefined) coming.add(nowMs + given.seconds * 1_000, event);
			return;
		}
		// Answers that nobody waits for change nothing.
		case 'stopTask':
		case 'endRun':
			return;
	}
}

function eventOf(key: string, answer: Answer): RunEvent | undefined {
	if ('output' in answer) return {type: 'taskSucceeded', key, output: answer.output};
	return 'error' in answer ? {type: 'taskFailed', key, error: answer.error} : undefined;
}
