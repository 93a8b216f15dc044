// v1 Events: what happened to objects, asked for and told in lines.

import {ageSince} from '../../api/duration.js';
import type {ApiObject} from '../../api/object.js';
import type {Client} from '../client.js';
import {listAll} from '../cluster/lists.js';
import {events, type Resource} from '../cluster/resources.js';
import {cellText} from '../screen/table.js';

export type EventObject = ApiObject & {
	readonly type?: string;
	readonly reason?: string;
	readonly message?: string;
	readonly count?: number;
	readonly firstTimestamp?: string;
	readonly lastTimestamp?: string;
	readonly involvedObject?: {readonly kind?: string; readonly name?: string; readonly namespace?: string};
};

/** Oldest first; of one namespace, or of all when it is undefined. */
export async function listEvents(
	client: Client,
	namespace: string | undefined,
	about?: {readonly resource: Resource; readonly name: string},
): Promise<readonly EventObject[]> {
	const fieldSelector = about === undefined ? undefined : `involvedObject.kind=${about.resource.kind},involvedObject.name=${about.name}`;
	// Events about objects without a namespace are filed elsewhere: they are found by their object alone.
	const where = about !== undefined && !about.resource.namespaced ? undefined : namespace;
	const found = (await listAll(client, events, where, {fieldSelector})) as readonly EventObject[];
	return [...found].sort((a, b) => timeOf(a) - timeOf(b));
}

const timeOf = ({lastTimestamp, metadata}: EventObject): number => Date.parse(lastTimestamp ?? metadata.creationTimestamp) || 0;

/** `12s (x4 over 3m)`, as kubectl shows when and how often. */
function whenText(event: EventObject, nowMs: number): string {
	const last = ageSince(event.lastTimestamp ?? event.metadata.creationTimestamp, nowMs);
	if ((event.count ?? 1) <= 1) return last;
	return `${last} (x${event.count ?? 1} over ${ageSince(event.firstTimestamp ?? event.metadata.creationTimestamp, nowMs)})`;
}

/** When, type, reason, object, message. */
export const eventCells = (event: EventObject, nowMs: number): readonly string[] => [
	whenText(event, nowMs),
	cellText(event.type),
	cellText(event.reason),
	cellText(`${(event.involvedObject?.kind ?? '').toLowerCase()}/${event.involvedObject?.name ?? ''}`),
	cellText(event.message),
];
