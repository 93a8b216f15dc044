// A namespace that is not there.

import {AppError} from '../../api/errors.js';
import type {Client} from '../client.js';
import {withNearest} from './nearest.js';
import {pathOf, resourceOf} from './resources.js';

/** The error that says that there is no such namespace, and which is near; undefined when it is there, or it cannot be told. */
export async function missingNamespace(client: Client, name: string): Promise<AppError | undefined> {
	try {
		await client.json({path: pathOf(resourceOf('namespaces'), undefined, name)});
		return undefined;
	} catch (error) {
		return isMissingNamespace(error) ? withNearest(client, error) : undefined; // A login that may not look gets no such error.
	}
}

export const isMissingNamespace = (error: unknown): error is AppError =>
	error instanceof AppError && error.code === 'ERR_NOT_FOUND' && error.failure.details['kind'] === 'namespaces';
