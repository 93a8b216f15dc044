// Records as writes, as many at a time as one transaction takes.

import {Buffer} from 'node:buffer';
import {limits} from '../../api/limits.js';
import type {StoredRecord, Write} from './store.js';

export async function* batchesOf(
	records: AsyncIterable<StoredRecord>,
	bodyOf: (record: StoredRecord) => Write['body'] = ({body}) =>
		() =>
			body,
): AsyncIterable<readonly Write[]> {
	let writes: Write[] = [];
	let bytes = 0;
	for await (const record of records) {
		const size = Buffer.byteLength(record.body);
		if (writes.length > 0 && (writes.length === limits.batchOperations || bytes + size > limits.batchBytes)) {
			yield writes;
			writes = [];
			bytes = 0;
		}
		writes.push({key: record.key, body: bodyOf(record)});
		bytes += size;
	}
	if (writes.length > 0) yield writes;
}
