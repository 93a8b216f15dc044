// Runs whose server goes down at any step, and whose events come twice: the same end as without, and no attempt with another key.

import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import test from 'ava';
import {parse} from 'yaml';
import {rehearse, type Answer, type Call} from '../../actors/workflows/rehearsal.js';
import type {Frame, RunCommand, RunEnding, RunEvent, RunHead, Step, Tally} from '../../actors/workflows/run.js';
import {beginRun, outstanding, stepRun} from '../../actors/workflows/step.js';
import {timeLine} from '../../actors/workflows/time-line.js';
import type {Definition} from '../../api/states-language/definition.js';
import {readCases, type MockCase} from '../../cli/workflow/mock-file.js';
import {seededRandom} from '../../system/time/random.js';
import {root} from '../docs/_pages.js';
import {definitionOf, testTools} from '../api/states-language/_states.js';

const examples = path.join(root, 'examples/workflows');

type Answering = {readonly answer: (call: Call) => Answer; readonly keys: ReadonlySet<string>};

/** One answer for each key, and of one state in one machine the next for each new key: whatever the order of calls elsewhere. */
function answering({answers}: MockCase): Answering {
	const given = new Map<string, Answer>();
	const counts = new Map<string, number>();
	return {
		keys: {
			has: key => given.has(key),
			get size() {
				return given.size;
			},
			[Symbol.iterator]: () => given.keys(),
		} as ReadonlySet<string>,
		answer(call) {
			const before = given.get(call.key);
			if (before !== undefined) return before;
			const place = `${call.key.slice(0, call.key.lastIndexOf('/'))} ${call.state}`;
			const count = counts.get(place) ?? 0;
			counts.set(place, count + 1);
			const listed = answers.get(call.state);
			const list = Array.isArray(listed) ? (listed as readonly Answer[]) : [listed as Answer | undefined];
			const answer = list[Math.min(count, list.length - 1)] ?? {output: {}, seconds: 0};
			given.set(call.key, answer);
			return answer;
		},
	};
}

const runOf = ({name, input = {}}: MockCase) => ({id: 'r', name, workflow: 'w', input});

/** How a run ends whose server goes down before about every eighth step, and of whose events every fourth comes twice. */
function withCrashes(
	definition: Definition,
	each: MockCase,
	answer: (call: Call) => Answer,
	seed: number,
): {readonly ending: RunEnding | null; readonly crashes: number; readonly left: number} {
	const chance = seededRandom(seed);
	const frames = new Map<string, string>();
	const tallies = new Map<string, string>();
	let head: RunHead;
	let coming = timeLine<RunEvent>();
	let crashes = 0;
	const carryOut = (command: RunCommand, nowMs: number): void => {
		const twice = chance.next() < 0.25 ? 2 : 1;
		for (let count = 0; count < twice; count++) {
			if (command.type === 'continue') coming.add(nowMs, {type: 'continued', frame: command.frame});
			if (command.type === 'startTimer') coming.add(command.atMs, {type: 'timerFired', timer: command.timer});
			if (command.type !== 'callTask') continue;
			const given = answer(command);
			if ('output' in given) coming.add(nowMs + given.seconds * 1_000, {type: 'taskSucceeded', key: command.key, output: given.output});
			if ('error' in given) coming.add(nowMs + given.seconds * 1_000, {type: 'taskFailed', key: command.key, error: given.error});
		}
	};
	const commit = (step: Step, nowMs: number): void => {
		// What is stored is text.
		head = JSON.parse(JSON.stringify(step.head ?? head)) as RunHead;
		for (const [id, frame] of step.frames) {
			if (frame === null) frames.delete(id);
			else frames.set(id, JSON.stringify(frame));
		}
		for (const [id, tally] of step.tallies) {
			if (tally === null) tallies.delete(id);
			else tallies.set(id, JSON.stringify(tally));
		}
		if (chance.next() < 0.125) {
			crashes++;
			coming = timeLine();
			for (const text of frames.values())
				for (const command of outstanding(definition, head, JSON.parse(text) as Frame)) carryOut(command, nowMs);
		} else for (const command of step.commands) carryOut(command, nowMs);
	};
	const first = beginRun(definition, runOf(each), {nowMs: each.startMs, tools: testTools()});
	head = first.head;
	commit(first, each.startMs);
	let nowMs = each.startMs;
	for (let steps = 0; head.ending === null && steps < 20_000; steps++) {
		const next = coming.next();
		if (next === undefined) break;
		nowMs = Math.max(nowMs, next.atMs);
		const frame = (id: string) => (frames.has(id) ? (JSON.parse(frames.get(id) ?? '') as Frame) : undefined);
		const tally = (id: string) => (tallies.has(id) ? (JSON.parse(tallies.get(id) ?? '') as Tally) : undefined);
		commit(stepRun(definition, {head, frame, tally}, next.value, {nowMs, tools: testTools()}), nowMs);
	}
	return {ending: head.ending, crashes, left: frames.size + tallies.size};
}

const withoutTime = (ending: RunEnding | null | undefined) => (ending === null || ending === undefined ? ending : {...ending, atMs: 0});

for (const [file, mocks] of [
	['order.asl.json', 'order.mocks.yaml'],
	['media.asl.yaml', 'media.mocks.yaml'],
	['approval.asl.yaml', 'approval.mocks.yaml'],
] as const)
	test(`${file}: a server that goes down at any step changes no end, and makes no call with a new key`, async t => {
		const definition = definitionOf(parse(await readFile(path.join(examples, file), 'utf8')));
		const read = await readCases(path.join(examples, mocks), Readable.from([]), definition);
		if (!read.ok) return t.fail(JSON.stringify(read.faults));
		let crashes = 0;
		for (const each of read.cases) {
			const plain = answering(each);
			const {ending} = rehearse({
				definition,
				run: runOf(each),
				startMs: each.startMs,
				tools: testTools(),
				stepsMax: 20_000,
				answer: plain.answer,
			});
			for (let seed = 1; seed <= 20; seed++) {
				const other = answering(each);
				const ran = withCrashes(definition, each, other.answer, seed);
				crashes += ran.crashes;
				t.deepEqual(withoutTime(ran.ending), withoutTime(ending), `${each.name}, seed ${seed}`);
				t.is(ran.left, 0);
				// A branch that is stopped may have come further in one of the two.
				if (ending?.status === 'succeeded')
					t.deepEqual([...other.keys].toSorted(), [...plain.keys].toSorted(), `${each.name}, seed ${seed}`);
			}
		}
		t.log(`${read.cases.length * 20} runs, ${crashes} crashes`);
		t.true(crashes > 100);
		return undefined;
	});
