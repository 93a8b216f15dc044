// Rules of what a container asks for and may use at most.

import {gpuResource} from '../gpu.js';
import {limits} from '../limits.js';
import type {Json, JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import {amountOf, isQuantity} from '../resource-amount.js';
import {shown} from '../shown.js';
import {forbid, membersOf, refuse, type Found} from './report.js';

export function checkResources(found: Found, path: string, resources: unknown): void {
	const {requests, limits: most} = membersOf(resources);
	checkAmounts(found, `${path}.limits`, most, {});
	// A request that is its limit was made from it: what is wrong is told of the limit alone.
	checkAmounts(found, `${path}.requests`, requests, membersOf(most));
	for (const resource of ['cpu', 'memory']) {
		const request = amountOf(resource, membersOf(requests)[resource]);
		const limit = amountOf(resource, membersOf(most)[resource]);
		if (request === undefined || limit === undefined || request <= limit) continue;
		const texts = [membersOf(requests)[resource], membersOf(most)[resource]].map(shown);
		refuse(found, `${path}.requests.${resource}`, `must be at most the limit of ${texts[1]}, got ${texts[0]}`);
	}
	checkWhole(found, joinPath(`${path}.requests`, gpuResource), membersOf(requests)[gpuResource], membersOf(most)[gpuResource]);
}

/** Of a device nothing is left for others. */
function checkWhole(found: Found, path: string, request: Json | undefined, limit: Json | undefined): void {
	if (request === undefined) return;
	if (limit === undefined) return refuse(found, path, 'must have a limit of the same number: devices are not shared');
	const [asked, most] = [amountOf(gpuResource, request), amountOf(gpuResource, limit)];
	if (asked === undefined || most === undefined || asked === most) return;
	refuse(found, path, `must be equal to the limit of ${shown(limit)}, got ${shown(request)}: devices are not shared`);
}

const supported: readonly string[] = ['cpu', 'memory', gpuResource];

function checkAmounts(found: Found, path: string, amounts: unknown, told: JsonObject): void {
	const members = membersOf(amounts);
	for (const resource in members) {
		if (Object.hasOwn(told, resource) && told[resource] === members[resource]) continue;
		const at = joinPath(path, resource);
		if (!supported.includes(resource)) {
			forbid(found, at, `the resource ${shown(resource)} is not supported yet; cpu, memory and ${gpuResource} are`);
			continue;
		}
		const amount = checkAmount(found, at, resource, members[resource]);
		if (amount !== undefined && amount > limits.resourceAmount)
			refuse(found, at, `is more than any node has, got ${shown(members[resource])}`);
	}
}

/** The amount of a quantity; undefined where that is refused, here or by the schema. */
export function checkAmount(found: Found, path: string, resource: string, quantity: Json | undefined): number | undefined {
	if (!isQuantity(quantity)) return undefined;
	const amount = amountOf(resource, quantity);
	const example = resource === 'cpu' ? '"500m" or 2' : '"128Mi" or 134217728';
	if (resource === gpuResource && !Number.isSafeInteger(amount))
		refuse(found, path, `must be a whole number such as 1, got ${shown(quantity)}`);
	else if (amount === undefined) refuse(found, path, `must be a quantity such as ${example}, got ${shown(quantity)}`);
	else if (amount < 0) refuse(found, path, `must not be negative, got ${shown(quantity)}`);
	else return amount;
	return undefined;
}
