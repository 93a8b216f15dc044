// `healthcheck`: a readiness probe. Docker marks a container unhealthy and leaves it running; so does this: it is not ready, and nothing more.

import type {Json, JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {below, refuse, remark, type At} from './findings.js';
import {flagOf, membersOf, refuseOthers, secondsOf, textsOf, wholeOf} from './values.js';

/** Docker's own, when the file does not say. */
const usual = {intervalSeconds: 30, timeoutSeconds: 30, retries: 3};

const most = 2_147_483_647;

/** The probe; undefined where there is none, or it is switched off. `literal` keeps a text from being read for variables. */
export function probeOf(service: At, value: Json | undefined, literal: (text: string) => string): JsonObject | undefined {
	const at = below(service, 'healthcheck');
	const check = membersOf(at, value);
	refuseOthers(at, check, ['test', 'interval', 'timeout', 'retries', 'start_period', 'start_interval', 'disable']);
	if (flagOf(below(at, 'disable'), check['disable']) === true) return undefined;
	const periodSeconds = wholeSeconds(below(at, 'interval'), check['interval']) ?? usual.intervalSeconds;
	const timeoutSeconds = wholeSeconds(below(at, 'timeout'), check['timeout']) ?? usual.timeoutSeconds;
	const failureThreshold = wholeOf(below(at, 'retries'), check['retries'], 0, most) || usual.retries;
	secondsOf(below(at, 'start_period'), check['start_period']); // A container that is not ready yet is not ready either way.
	if (check['start_interval'] !== undefined) {
		secondsOf(below(at, 'start_interval'), check['start_interval']);
		remark(below(at, 'start_interval'), 'is not used: interval counts from the start');
	}
	if (value === undefined || value === null) return undefined;
	const command = commandOf(below(at, 'test'), check['test']);
	return command === undefined ? undefined : {exec: {command: command.map(literal)}, periodSeconds, timeoutSeconds, failureThreshold};
}

/** Probes know whole seconds, and none of none. */
function wholeSeconds(at: At, value: Json | undefined): number | undefined {
	const seconds = secondsOf(at, value);
	if (seconds === undefined || seconds === 0) return undefined; // Docker's own is meant by 0 as well.
	const whole = Math.ceil(seconds);
	if (whole !== seconds) remark(at, `is ${whole} s: probes know whole seconds`);
	return whole;
}

/** `["CMD", …]`, `["CMD-SHELL", "…"]`, `["NONE"]`, or a text for the shell. */
function commandOf(at: At, test: Json | undefined): readonly string[] | undefined {
	if (test === undefined || test === null) return refuse(at, 'is required: what an image checks by itself is not known here');
	if (typeof test === 'string') return ['/bin/sh', '-c', test];
	const words = textsOf(at, test).map(({text}) => text);
	const [first, ...rest] = words;
	if (first === 'NONE' && rest.length === 0) return undefined;
	if (first === 'CMD' && rest.length > 0) return rest;
	if (first === 'CMD-SHELL' && rest.length > 0) return ['/bin/sh', '-c', ...rest];
	return refuse(
		at,
		`must be a text, or a list that begins with CMD, CMD-SHELL or NONE, got ${first === undefined ? 'an empty list' : shown(first)}`,
	);
}
