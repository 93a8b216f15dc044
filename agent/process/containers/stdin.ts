// What is written to the input of running containers: through the FIFO that each has, by no more than it takes.

import {closeSync, constants, openSync, writeSync} from 'node:fs';
import {Socket} from 'node:net';
import {failed, succeeded} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {valueOrFor} from '../../../system/files/errno.js';
import type {Done} from '../../handlers.js';
import {stdinEndFile, stdinFile} from '../../attempts.js';
import {explained} from '../../os/explained.js';
import {whileOpen} from '../../os/while-open.js';
import type {Container} from './containers.js';

export type Input = {
	/** Answers when the program's side has taken all of it. `isLast`: the program then finds the end of its input. */
	readonly write: (container: Pick<Container, 'id' | 'folder'>, data: Buffer, isLast: boolean, done: Done<null>) => void;
	readonly close: () => void;
};

export function createInput(): Input {
	/** By the folder of the container: what waits for its program. */
	const waiting = new Map<string, {readonly socket: Socket; bytes: number}>();

	function write({id, folder}: Pick<Container, 'id' | 'folder'>, data: Buffer, isLast: boolean, done: Done<null>): void {
		const refused = (reason: string): void => done(failed('ERR_RUNTIME', {message: `the input of container "${id.container}" ${reason}`}));
		const current = waiting.get(folder) ?? open(folder);
		if (current === undefined) return refused('is closed');
		if (current.bytes + data.length > limits.stdinBytes) {
			return done(failed('ERR_BUSY', {address: `${id.container}/stdin`, waiting: current.bytes}));
		}
		const isOver = (): void => {
			current.bytes -= data.length;
			if (current.bytes > 0 || current.socket.writableLength > 0) return;
			waiting.delete(folder);
			current.socket.destroy();
		};
		current.bytes += data.length;
		current.socket.write(data, error => {
			try {
				// Both ends are this process's as long as the socket is: the writing one goes first.
				isOver();
				if (error !== null && error !== undefined) return refused(`is not read any more: ${explained(error)}`);
				if (isLast) endInput(folder);
			} catch (failure) {
				return refused(`cannot be ended: ${explained(failure)}`);
			}
			done(succeeded(null));
		});
	}

	/** Undefined: no process of the container keeps it open any more. Throws other errno exceptions. */
	function open(folder: string): {readonly socket: Socket; bytes: number} | undefined {
		const end = openToWrite(stdinEndFile(folder));
		if (end === undefined) return undefined;
		closeSync(end);
		const descriptor = openToWrite(stdinFile(folder));
		if (descriptor === undefined) return undefined;
		const socket = new Socket({fd: descriptor, readable: false, writable: true});
		// Told to the caller of the write.
		socket.on('error', () => waiting.delete(folder));
		const opened = {socket, bytes: 0};
		waiting.set(folder, opened);
		return opened;
	}

	return {
		write,
		close() {
			for (const {socket} of waiting.values()) socket.destroy();
			waiting.clear();
		},
	};
}

/** Never waits. Undefined: no process reads, or there is no such FIFO. Throws other errno exceptions. */
const openToWrite = (file: string): number | undefined =>
	valueOrFor(undefined, ['ENXIO', 'ENOENT'], () => openSync(file, constants.O_WRONLY | constants.O_NONBLOCK));

function endInput(folder: string): void {
	const descriptor = openToWrite(stdinEndFile(folder));
	if (descriptor !== undefined) whileOpen(descriptor, () => writeSync(descriptor, '\n'));
}
