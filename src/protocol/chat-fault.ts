/** Why a session can't be saved. `unsure`: it is not known whether the last record is on disk. */
export type ChatFault = { readonly message: string; readonly unsure: boolean };
