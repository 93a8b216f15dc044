// The two errors that the command line itself makes: it was used wrongly (exit code 2), or it did not get there (1).

import {AppError} from '../api/errors.js';

/** Wrong usage of the command line. Several problems are several lines. */
export const usageError = (message: string): AppError => new AppError('ERR_USAGE', {message});

/** What was asked for did not happen. */
export const failedError = (message: string): AppError => new AppError('ERR_INTERNAL', {message});

/** Of a request whose words were checked before it was sent: what the server has against it is how things are. Others as they are. */
export const asState = (error: unknown): unknown =>
	error instanceof AppError && error.code === 'ERR_BAD_REQUEST' ? failedError(error.message) : error;
