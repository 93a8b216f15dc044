// The GPUs of a host: which there are, and which pod has which.
//
// The device files are the truth. What nvidia-smi adds, names and that one of them is not well, comes when it comes, and is asked for again with
// what the node says of itself.

import type {Device} from '../../actors/node/runtime/runtime-port.js';
import {limits} from '../../api/limits.js';
import type {Clock} from '../../system/time/clock.js';
import {openAllotment, type Allotment} from './allotment.js';
import {gpuFilesIn} from './gpu-files.js';
import {askGpuNames, type GpuNames, type GpuQuestion} from './nvidia-smi.js';

export type DevicesOptions = {
	/** Where the device files are. */
	readonly folder: string;
	/** The file of nvidia-smi; undefined: there is none. */
	readonly program: string | undefined;
	/** Where it is kept which pod has which. */
	readonly record: string;
	readonly clock: Clock;
};

export type Devices = {
	readonly allotment: Allotment;
	/** Those that pods may have, as of now. Asks nvidia-smi where that is due. */
	readonly present: () => readonly Device[];
	/** The files of all, well or not. */
	readonly files: () => readonly Device[];
	/** Called when nvidia-smi has told something new. One listener. */
	readonly onNews: (listener: () => void) => void;
	readonly close: () => void;
};

export function openDevices({folder, program, record, clock}: DevicesOptions): Devices {
	let names: GpuNames | undefined;
	let askedAtMs: number | undefined;
	let asked = '';
	let question: GpuQuestion | undefined;
	let isClosed = false;
	let listener: () => void = () => undefined;
	const files = (): readonly Device[] => gpuFilesIn(folder).map(device => ({...device, uuid: names?.get(device.index)}));
	/** Where it tells of some, those that it does not tell of do not answer the driver. */
	const present = (): readonly Device[] => files().filter(({index}) => names?.has(index) !== false);
	const ask = (file: string): void => {
		question = askGpuNames(file);
		askedAtMs = clock.monotonicMs();
		const before = JSON.stringify(present());
		void question.answer.then(told => {
			question = undefined;
			if (isClosed) return;
			names = told;
			// It makes the files that are missing.
			if (JSON.stringify(present()) !== before) listener();
		});
	};
	const lookAgain = (): void => {
		if (program === undefined || question !== undefined || isClosed) return;
		const seen = gpuFilesIn(folder)
			.map(({index}) => index)
			.join();
		const isDue = askedAtMs === undefined || seen !== asked || clock.monotonicMs() - askedAtMs >= limits.gpuLookEveryMs;
		if (!isDue) return;
		asked = seen;
		ask(program);
	};
	return {
		allotment: openAllotment(record),
		present() {
			lookAgain();
			return present();
		},
		files,
		onNews: next => void (listener = next),
		close() {
			isClosed = true;
			question?.drop();
		},
	};
}
