"""The chart in `helm/gainsay`, and what is written into it from elsewhere in the repository (`make chart`)."""
