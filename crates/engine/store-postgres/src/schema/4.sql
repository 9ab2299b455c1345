-- What people were given when they signed in, sealed under a key of the cluster's secret, and under
-- names that tell nothing. A sign-in is renewed by one replica at a time.
CREATE TABLE sign_ins (
    name text COLLATE "C" PRIMARY KEY,
    sealed bytea NOT NULL
);
CREATE TABLE sign_in_renewals (
    name text COLLATE "C" PRIMARY KEY,
    holder text NOT NULL,
    until timestamptz NOT NULL
);
