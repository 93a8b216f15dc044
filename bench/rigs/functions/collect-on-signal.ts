// Loaded into a cluster before anything else: at SIGUSR2 it collects its garbage, so that its resident memory is what it needs.

import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {isMainThread} from 'node:worker_threads';

if (isMainThread) {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as () => void;
	// Finalisers and weak references may need a second look.
	process.on('SIGUSR2', () => {
		collect();
		setImmediate(collect);
	});
}
