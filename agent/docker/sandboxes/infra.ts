// Making infra containers, for one pod or in advance.

import {create, type Inspected} from '../engine/calls.js';
import {EngineError, type Engine} from '../engine/engine.js';
import type {InfraImage} from '../programs/infra-image.js';
import type {CreateOptions} from './infra-options.js';

export type InfraMaker = {readonly engine: Engine; readonly infraImage: InfraImage};

/** Its id. Somebody may have removed the image since it was asked for. Rejects with EngineErrors. */
export async function createInfra({engine, infraImage}: InfraMaker, optionsOf: (image: string) => CreateOptions): Promise<string> {
	try {
		return await create(engine, optionsOf(await infraImage.name()));
	} catch (error) {
		if (!(error instanceof EngineError && error.fault === 'notFound')) throw error;
		infraImage.forget();
		return create(engine, optionsOf(await infraImage.name()));
	}
}

/** Undefined: it has none, or has ended. */
export function addressOf({State: {Running}, NetworkSettings}: Inspected): string | undefined {
	const address = Object.values(NetworkSettings.Networks)
		.map(({IPAddress}) => IPAddress)
		.find(each => each !== '');
	return Running ? address : undefined;
}
