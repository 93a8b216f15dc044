// What a container may use and needs: `deploy.resources`, and the fields of version 2 beside it.

import type {Json, JsonObject} from '../object.js';
import {cpuText, memoryText} from '../quantity.js';
import {below, refuse, type At} from './findings.js';
import {bytesOf, membersOf, numberOf, refuseOthers, wholeOf} from './values.js';

/** What is said of one resource, and where. */
type Said = {readonly text: string; readonly at: At} | undefined;

/** As a container has them; undefined where nothing is said. */
export function resourcesOf(service: At, fields: JsonObject): JsonObject | undefined {
	const at = below(service, 'deploy', 'resources');
	const deployed = membersOf(at, membersOf(below(service, 'deploy'), fields['deploy'])['resources']);
	refuseOthers(at, deployed, ['limits', 'reservations']);
	const most = amountsOf(below(at, 'limits'), deployed['limits']);
	const least = amountsOf(below(at, 'reservations'), deployed['reservations']);
	const limits = {
		cpu: one(one(most.cpu, cpuOf(below(service, 'cpus'), fields['cpus'])), quotaOf(service, fields)),
		memory: one(most.memory, memoryOf(below(service, 'mem_limit'), fields['mem_limit'])),
	};
	const requests = {
		cpu: one(least.cpu, sharesOf(below(service, 'cpu_shares'), fields['cpu_shares'])),
		memory: one(least.memory, memoryOf(below(service, 'mem_reservation'), fields['mem_reservation'])),
	};
	const parts = {...texts('requests', requests), ...texts('limits', limits)};
	return Object.keys(parts).length === 0 ? undefined : parts;
}

/** Two fields that say the same must say the same. */
function one(first: Said, second: Said): Said {
	if (first !== undefined && second !== undefined && first.text !== second.text)
		refuse(second.at, `says ${second.text}, and ${first.at.path} says ${first.text}: leave one out`);
	return first ?? second;
}

function texts(name: string, {cpu, memory}: {readonly cpu: Said; readonly memory: Said}): JsonObject {
	const members = {...(cpu === undefined ? {} : {cpu: cpu.text}), ...(memory === undefined ? {} : {memory: memory.text})};
	return Object.keys(members).length === 0 ? {} : {[name]: members};
}

function amountsOf(at: At, value: Json | undefined): {readonly cpu: Said; readonly memory: Said} {
	const {pids, devices, generic_resources: generic, ...members} = membersOf(at, value);
	if (pids !== undefined) refuse(below(at, 'pids'), 'cannot be said of one container: leave it out');
	if (devices !== undefined) refuse(below(at, 'devices'), 'devices cannot be asked for');
	if (generic !== undefined) refuse(below(at, 'generic_resources'), 'other resources than cpus and memory cannot be asked for');
	refuseOthers(at, members, ['cpus', 'memory']);
	return {cpu: cpuOf(below(at, 'cpus'), members['cpus']), memory: memoryOf(below(at, 'memory'), members['memory'])};
}

const cpusMost = 100_000;

/** CPUs, `0.5`; none is no limit, as in Docker. */
function cpuOf(at: At, value: Json | undefined): Said {
	const cpus = numberOf(at, value);
	if (cpus === undefined || cpus === 0) return undefined;
	const millis = Math.ceil(Math.round(cpus * 1e6) / 1e3);
	return cpus > 0 && cpus <= cpusMost ? {text: cpuText(millis), at} : refuse(at, `must be CPUs such as 0.5, got ${cpus}`);
}

function memoryOf(at: At, value: Json | undefined): Said {
	const bytes = bytesOf(at, value);
	return bytes === undefined || bytes === 0 ? undefined : {text: memoryText(bytes), at};
}

/** Microseconds of CPU in each period, of 100 ms when it is not said. */
function quotaOf(service: At, fields: JsonObject): Said {
	const at = below(service, 'cpu_quota');
	const quota = microseconds(at, fields['cpu_quota']);
	const period = microseconds(below(service, 'cpu_period'), fields['cpu_period']) ?? 100_000;
	if (quota === undefined || quota <= 0) return undefined;
	return cpuOf(at, quota / Math.max(period, 1));
}

function microseconds(at: At, value: Json | undefined): number | undefined {
	const [, digits] = (typeof value === 'string' ? /^(\d{1,9})ms$/.exec(value) : null) ?? [];
	return digits === undefined ? wholeOf(at, value, -1, 1e9) : Number(digits) * 1_000;
}

/** A weight, of which 1024 is one CPU: so Kubernetes makes one of the other. */
function sharesOf(at: At, value: Json | undefined): Said {
	const shares = wholeOf(at, value, 0, 262_144);
	return shares === undefined || shares === 0 ? undefined : {text: cpuText(Math.ceil((shares * 1_000) / 1_024)), at};
}
