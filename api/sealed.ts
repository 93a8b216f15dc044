// What a sealed value looks like. Who seals and opens it is `server/seal.ts`; everybody else only tells it from a plain one.

/** Neither base64 nor a JSON text begins so: what a client writes is never taken for sealed. */
export const sealedPrefix = 'troupe.sealed.v1.';

const sealed = /^troupe\.sealed\.v1\.[A-Za-z0-9_-]+$/;

export const isSealed = (text: string): boolean => sealed.test(text);

/** Where clients keep what they applied last, values included: kubectl and ours. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
